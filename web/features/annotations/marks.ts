import { useEffect, useMemo } from 'preact/hooks';
import type UPlot from 'uplot';
import type { Plugin } from 'uplot';
import type { Zone } from '../../format.ts';
import { formatDateTime } from '../../format.ts';
import type { Annotation } from './api.ts';

/**
 * Marks annotations in a chart by a line with a button at its foot. Hover or focus on the button shows the text.
 *
 * @returns plugins; the array stays the same while the chart exists
 */
export function useMarks(annotations: Annotation[], zone: Zone): Plugin[] {
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
      // In the right half of the chart, the text stands left of the mark, so that the text stays within the chart.
      item.dataset['side'] = left > width / 2 ? 'left' : 'right';
    }
  }

  return {
    set(annotations: Annotation[], zone: Zone) {
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
  // The chart captures the pointer for its gestures, which would suppress the click on this button.
  button.addEventListener('pointerdown', (event) => event.stopPropagation());
  const words = document.createElement('span');
  words.className = 'chart-mark-text';
  words.setAttribute('aria-hidden', 'true');
  words.textContent = `${when} · ${text}`;
  item.append(button, words);
  return item;
}
