import { useEffect, useMemo } from 'preact/hooks';
import { formatDateTime } from '../format.js';

/** @import UPlot, { Plugin } from 'uplot' */
/** @import { Alarm, Annotation } from '../api/types.js' */

/**
 * Marks of annotations in a chart: a line at the instant, and at its foot a button. The button has the text, by pointer and by keyboard.
 *
 * @param {Annotation[]} annotations
 * @param {'local' | 'utc'} zone
 * @returns {Plugin[]} the same array as long as the chart is there
 */
export function useMarks(annotations, zone) {
  const marks = useMemo(createMarks, []);
  useEffect(() => marks.set(annotations, zone), [marks, annotations, zone]);
  return marks.plugins;
}

function createMarks() {
  /** @type {UPlot | null} */
  let chart = null;
  const list = document.createElement('ul');
  list.className = 'chart-marks';
  /** @type {{ ts: number, item: HTMLElement }[]} */
  let marks = [];

  function place() {
    if (!chart) return;
    const width = chart.over.clientWidth;
    for (const { ts, item } of marks) {
      const left = chart.valToPos(ts, 'x');
      item.hidden = !(left >= 0 && left <= width);
      item.style.left = `${left}px`;
      // The text of a mark on the right would leave the chart.
      item.dataset['side'] = left > width / 2 ? 'left' : 'right';
    }
  }

  return {
    /** @param {Annotation[]} annotations @param {'local' | 'utc'} zone */
    set(annotations, zone) {
      marks = annotations.map(({ ts, text }) => {
        const at = Date.parse(ts);
        return { ts: at, item: markOf(text, formatDateTime(at, zone)) };
      });
      list.replaceChildren(...marks.map(({ item }) => item));
      place();
    },

    plugins: [
      /** @type {Plugin} */ ({
        hooks: {
          ready(plot) {
            chart = plot;
            plot.over.append(list);
            place();
          },
          draw: place,
          destroy() {
            chart = null;
          },
        },
      }),
    ],
  };
}

/** @param {string} text @param {string} when @returns {HTMLElement} */
function markOf(text, when) {
  const item = document.createElement('li');
  item.className = 'chart-mark';
  const button = document.createElement('button');
  button.type = 'button';
  button.title = text;
  button.setAttribute('aria-label', `Annotation at ${when}: ${text}`);
  // The chart takes the pointer for its gestures, and then no click would come here.
  button.addEventListener('pointerdown', (event) => event.stopPropagation());
  const words = document.createElement('span');
  words.className = 'chart-mark-text';
  words.setAttribute('aria-hidden', 'true');
  words.textContent = `${when} · ${text}`;
  item.append(button, words);
  return item;
}

/** Thinner is not seen, in CSS pixels. */
const LEAST_WIDTH = 2;

/** How much of the ground an alarm leaves visible. */
const OPACITY = { open: 0.28, cleared: 0.16 };

/**
 * Alarms as bands behind the line of a chart, from the start of the episode to its end.
 *
 * @param {Alarm[]} alarms
 * @returns {Plugin[]} the same array as long as the chart is there
 */
export function useAlarmBands(alarms) {
  const bands = useMemo(createBands, []);
  useEffect(() => bands.set(alarms), [bands, alarms]);
  return bands.plugins;
}

function createBands() {
  /** @type {UPlot | null} */
  let chart = null;
  /** @type {Alarm[]} */
  let alarms = [];

  /** @param {UPlot} plot */
  function paint(plot) {
    const { ctx, bbox } = plot;
    const color = getComputedStyle(plot.root).getPropertyValue('--bad');
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = color;
    for (const { state, started_at, cleared_at } of alarms) {
      if (state === 'withdrawn') continue;
      const left = plot.valToPos(Date.parse(started_at), 'x', true);
      const right =
        cleared_at === null ? bbox.left + bbox.width : plot.valToPos(Date.parse(cleared_at), 'x', true);
      ctx.globalAlpha = OPACITY[state];
      ctx.fillRect(left, bbox.top, Math.max(right - left, LEAST_WIDTH * devicePixelRatio), bbox.height);
    }
    ctx.restore();
  }

  return {
    /** @param {Alarm[]} next */
    set(next) {
      alarms = next;
      chart?.redraw(false, false);
    },

    plugins: [
      /** @type {Plugin} */ ({
        hooks: {
          ready(plot) {
            chart = plot;
          },
          drawClear: paint,
          destroy() {
            chart = null;
          },
        },
      }),
    ],
  };
}
