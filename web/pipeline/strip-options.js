import uPlot from 'uplot';
import { coloursOf } from '../chart/options.js';
import { timeLabels } from '../chart/time-axis.js';
import { formatTicks } from '../format.js';

const FONT = '12px system-ui, sans-serif';

/**
 * How one or two figures of the last minutes are drawn: the first as a line over its area, the second as a fainter line.
 *
 * @param {object} what
 * @param {HTMLElement} what.host its custom properties give the colours
 * @param {'local' | 'utc'} what.zone
 * @param {number} what.lines
 * @param {(index: number | null) => void} what.onPoint
 * @returns {uPlot.Options}
 */
export function stripOptions({ host, zone, lines, onPoint }) {
  const colour = coloursOf(host);
  const axis = {
    font: FONT,
    stroke: colour('--ink-2'),
    ticks: { show: false },
    grid: { stroke: colour('--rule'), width: 1 },
    border: { show: false },
  };
  const first = {
    stroke: colour('--line'),
    fill: colour('--line-area'),
    width: 1.5,
    points: { show: false },
  };
  const second = { stroke: colour('--ink-2'), dash: [4, 3], width: 1, points: { show: false } };
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    ms: 1,
    padding: [8, 12, 0, 0],
    legend: { show: false },
    tzDate: (ts) => (zone === 'utc' ? uPlot.tzDate(new Date(ts), 'Etc/UTC') : new Date(ts)),
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 7, width: 2, stroke: colour('--surface'), fill: colour('--line') },
    },
    scales: {
      x: { time: true, auto: false },
      y: { range: (_chart, _min, max) => [0, max ? max * 1.15 : 10] },
    },
    series: [{}, first, second].slice(0, lines + 1),
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 48,
        values: (_chart, ticks, _axis, _space, step) =>
          timeLabels(ticks, step, zone).map((text) => text.split('\n')[0] ?? ''),
      },
      { ...axis, size: 56, space: 36, values: (_chart, ticks) => formatTicks(ticks) },
    ],
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
  };
}
