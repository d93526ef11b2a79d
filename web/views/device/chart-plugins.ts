import type UPlot from 'uplot';
import type { Cursor, Plugin } from 'uplot';
import type { Gutter } from '../../chart/options.ts';
import { blank } from '../../chart/options.ts';

/** For a chart among others of a device, without time labels, because they stand once above all charts. */
export const signalPlugin = (gutter: Gutter): Plugin => ({
  opts(_chart, options) {
    const [times = {}, values = {}] = options.axes ?? [];
    return {
      ...options,
      padding: [6, options.padding?.[1] ?? null, 6, 0],
      cursor: linkedCursor(options.cursor),
      axes: [
        {
          ...times,
          grid: { ...times.grid, stroke: values.grid?.stroke, width: 1, show: true },
          size: 0,
          gap: 0,
          values: blank,
        },
        { ...values, size: gutter.sizeFor, space: 30 },
      ],
    };
  },
  hooks: { init: gutter.add, destroy: gutter.remove },
});

/** Returns a cursor with one dot, on the line. In a small chart, dots of maximum and minimum would hide the line. */
const linkedCursor = (cursor?: Cursor): Cursor => ({
  ...cursor,
  points: {
    ...cursor?.points,
    size: (_chart, series) => (series === 1 ? 9 : 0),
    width: (_chart, series) => (series === 1 ? 2 : 0),
  },
});

/** For the chart above those of a device, which has only the time labels of all. @param onCursor time in epoch ms under any cursor */
export const axisPlugin = (gutter: Gutter, onCursor: (ts: number | null) => void): Plugin => ({
  opts(_chart, options) {
    const [times = {}, values = {}] = options.axes ?? [];
    return {
      ...options,
      padding: [8, options.padding?.[1] ?? null, 0, 0],
      cursor: { ...options.cursor, points: { show: false } },
      series: options.series.map((series) => ({
        ...series,
        stroke: 'transparent',
        fill: 'transparent',
        points: { show: false },
      })),
      axes: [times, { ...values, grid: { show: false }, size: gutter.sizeFor, values: blank }],
    };
  },
  hooks: {
    init: gutter.add,
    destroy: gutter.remove,
    setCursor: (chart) => onCursor(timeUnder(chart)),
  },
});

/** Distance in CSS pixels up to which the cursor selects a point. */
const SNAP = 3;

/** @returns time in epoch ms; null: the cursor is outside of the chart */
function timeUnder(chart: UPlot): number | null {
  const { left = -1, idx } = chart.cursor;
  if (left < 0) return null;
  const point = chart.data[0][idx ?? -1];
  const isMeant = point !== undefined && Math.abs(chart.valToPos(point, 'x') - left) <= SNAP;
  return isMeant ? point : chart.posToVal(left, 'x');
}
