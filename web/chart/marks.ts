import { useEffect, useMemo } from 'preact/hooks';
import type UPlot from 'uplot';
import type { Plugin } from 'uplot';
import type { Alarm, Annotation } from '../api/types.ts';
import { formatDateTime } from '../format.ts';

/**
 * Marks of annotations in a chart: a line at the instant, and at its foot a button. The button has the text, by pointer and by keyboard.
 *
 * @returns the same array as long as the chart is there
 */
export function useMarks(annotations: Annotation[], zone: 'local' | 'utc'): Plugin[] {
  const marks = useMemo(createMarks, []);
  useEffect(() => marks.set(annotations, zone), [marks, annotations, zone]);
  return marks.plugins;
}

function createMarks() {
  let chart: UPlot | null = null;
  const list = document.createElement('ul');
  list.className = 'chart-marks';
  let marks: { ts: number; item: HTMLElement }[] = [];

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
    set(annotations: Annotation[], zone: 'local' | 'utc') {
      marks = annotations.map(({ ts, text }) => {
        const at = Date.parse(ts);
        return { ts: at, item: markOf(text, formatDateTime(at, zone)) };
      });
      list.replaceChildren(...marks.map(({ item }) => item));
      place();
    },

    plugins: [
      {
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
      } as Plugin,
    ],
  };
}

function markOf(text: string, when: string): HTMLElement {
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
 * @returns the same array as long as the chart is there
 */
export function useAlarmBands(alarms: Alarm[]): Plugin[] {
  const bands = useMemo(createBands, []);
  useEffect(() => bands.set(alarms), [bands, alarms]);
  return bands.plugins;
}

function createBands() {
  let chart: UPlot | null = null;
  let alarms: Alarm[] = [];

  function paint(plot: UPlot) {
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
    set(next: Alarm[]) {
      alarms = next;
      chart?.redraw(false, false);
    },

    plugins: [
      {
        hooks: {
          ready(plot) {
            chart = plot;
          },
          drawClear: paint,
          destroy() {
            chart = null;
          },
        },
      } as Plugin,
    ],
  };
}
