import uPlot from 'uplot';
import { decimalsFor, formatNumber, formatTime } from '../format.js';

/** Samples that are this far apart, in pixels, get a dot each: one sees what was measured, and what is only a line. */
const DOT_SPACE = 10;
const AXIS_FONT = '12px system-ui, sans-serif';

/**
 * How a sensor's line is drawn.
 *
 * @param {object} what
 * @param {HTMLElement} what.host its custom properties give the colours
 * @param {number} what.width CSS pixels
 * @param {number} what.height CSS pixels
 * @param {'local' | 'utc'} what.zone
 * @param {(index: number | null) => void} what.onPoint the sample under the cursor
 * @returns {uPlot.Options}
 */
export function chartOptions({ host, width, height, zone, onPoint }) {
  const colour = coloursOf(host);
  const axis = {
    font: AXIS_FONT,
    stroke: colour('--ink-2'),
    ticks: { show: false },
    grid: { stroke: colour('--rule'), width: 1 },
    border: { show: false },
  };
  return {
    width,
    height,
    ms: 1,
    padding: [6, 28, 0, 0],
    legend: { show: false },
    // Ticks of a clock stand at round times of its own zone.
    tzDate: (ts) => (zone === 'utc' ? uPlot.tzDate(new Date(ts), 'Etc/UTC') : new Date(ts)),
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 9, width: 2, stroke: colour('--surface'), fill: colour('--line') },
    },
    scales: { x: { time: true, auto: false }, y: { range: comfortableRange } },
    series: [
      {},
      {
        stroke: colour('--line'),
        fill: colour('--line-area'),
        width: 1.75,
        points: {
          space: DOT_SPACE,
          size: 4,
          fill: colour('--line'),
        },
      },
    ],
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 32,
        space: 90,
        values: (_chart, ticks) => {
          const withSeconds = (ticks[1] ?? 0) - (ticks[0] ?? 0) < 60_000;
          return ticks.map((ts) => formatTime(ts, zone).slice(0, withSeconds ? 8 : 5));
        },
      },
      {
        ...axis,
        size: 64,
        space: 44,
        values: (chart, ticks) => {
          // Without samples there is no scale: lines, but no figures on them.
          if (chart.data[0].length === 0) return ticks.map(() => '');
          const decimals = decimalsFor(ticks);
          return ticks.map((value) => formatNumber(value, decimals));
        },
      },
    ],
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
  };
}

/** @param {HTMLElement} host @returns {(name: string) => string} a custom property as a colour that a canvas takes */
function coloursOf(host) {
  const style = getComputedStyle(host);
  return (name) => style.getPropertyValue(name);
}

/**
 * Some air above and below; a flat line lies in the middle of one unit.
 *
 * @param {uPlot} _chart @param {number | null} min @param {number | null} max
 * @returns {[number, number]}
 */
function comfortableRange(_chart, min, max) {
  if (min === null || max === null) return [0, 1];
  const air = max > min ? (max - min) * 0.12 : 0.5;
  return [min - air, max + air];
}
