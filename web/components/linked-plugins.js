/** How charts that stand under each other differ from one that stands alone. */

/** @import UPlot, { Cursor, Plugin } from 'uplot' */
/** @import { Band, Painter } from './event-band.js' */

/** Room for the figures of the values, the same in all of them, so that one time is in one line, in CSS pixels. */
const AXIS_WIDTH = 72;
/** The cursor reads what is no further away from it, in CSS pixels. */
export const REACH = 10;

const blank = (/** @type {unknown} */ _chart, /** @type {number[]} */ ticks) => ticks.map(() => '');

/**
 * The signal of one sensor among others: its times stand above, once for all.
 *
 * @returns {Plugin}
 */
export const signalPlugin = () => ({
  opts(_chart, options) {
    const [times = {}, values = {}] = options.axes ?? [];
    return {
      ...options,
      padding: [6, 16, 6, 0],
      cursor: linkedCursor(options.cursor),
      axes: [
        {
          ...times,
          grid: { ...times.grid, stroke: values.grid?.stroke, width: 1, show: true },
          size: 0,
          gap: 0,
          values: blank,
        },
        { ...values, size: AXIS_WIDTH, space: 30 },
      ],
    };
  },
  hooks: {},
});

/** One dot, on the line itself; in a small chart those of the highest and the lowest would hide it. @param {Cursor} [cursor] @returns {Cursor} */
const linkedCursor = (cursor) => ({
  ...cursor,
  hover: { ...cursor?.hover, prox: REACH },
  points: {
    ...cursor?.points,
    size: (_chart, series) => (series === 1 ? 9 : 0),
    width: (_chart, series) => (series === 1 ? 2 : 0),
  },
});

/**
 * The band of time: when the device was online, its births, and the times of all charts below.
 *
 * @param {() => Band} current what to draw by now
 * @param {(ts: number | null) => void} onCursor epoch ms under the cursor of any of the charts
 * @param {Painter} paint
 * @returns {Plugin}
 */
export const bandPlugin = (current, onCursor, paint) => ({
  opts(_chart, options) {
    const [times = {}, values = {}] = options.axes ?? [];
    return {
      ...options,
      padding: [8, 16, 0, 0],
      cursor: { ...options.cursor, points: { show: false } },
      series: options.series.map((series) => ({
        ...series,
        stroke: 'transparent',
        fill: 'transparent',
        points: { show: false },
      })),
      axes: [times, { ...values, grid: { show: false }, size: AXIS_WIDTH, values: blank }],
    };
  },
  hooks: {
    draw: (chart) => paint(chart, current()),
    setCursor: (chart) => onCursor(timeUnder(chart)),
  },
});

/** Nearer to an event than this, in CSS pixels, the cursor means the event. */
const SNAP = 3;

/** @param {UPlot} chart @returns {number | null} epoch ms; null: the cursor is away */
function timeUnder(chart) {
  const { left = -1, idx } = chart.cursor;
  if (left < 0) return null;
  const event = chart.data[0][idx ?? -1];
  const isMeant = event !== undefined && Math.abs(chart.valToPos(event, 'x') - left) <= SNAP;
  return isMeant ? event : chart.posToVal(left, 'x');
}
