import { useEffect, useMemo } from 'preact/hooks';
import type UPlot from 'uplot';
import type { Plugin } from 'uplot';
import './chart-marks.css';

/** An instant or a range of a chart, in epoch ms. */
interface ChartMark {
  kind: 'annotation' | 'correction';
  from: number;
  to: number;
  /** text at hover and focus, and for screen readers */
  text: string;
  label: string;
}

/**
 * Marks instants and ranges in a chart, each with a button. Hover or focus on the button shows the text.
 *
 * @param marks another array draws all marks again
 * @returns plugins; the array stays the same while the chart exists
 */
export function useChartMarks(marks: ChartMark[]): Plugin[] {
  const list = useMemo(createMarks, []);
  useEffect(() => list.set(marks), [list, marks]);
  return list.plugins;
}

function createMarks() {
  let chart: UPlot | null = null;
  const list = document.createElement('ul');
  list.className = 'chart-marks';
  let items: { mark: ChartMark; item: HTMLElement }[] = [];

  function place() {
    if (!chart) return;
    const width = chart.over.clientWidth;
    for (const { mark, item } of items) {
      const left = chart.valToPos(mark.from, 'x');
      const right = chart.valToPos(mark.to, 'x');
      const start = Math.max(left, 0);
      item.hidden = !(left <= width && right >= 0);
      item.style.left = `${start}px`;
      item.style.width = `${Math.max(Math.min(right, width) - start, 0)}px`;
      // In the right half of the chart, the text stands left of the mark, so that the text stays within the chart.
      item.dataset['side'] = start > width / 2 ? 'left' : 'right';
    }
  }

  return {
    set(marks: ChartMark[]) {
      items = marks.map((mark) => ({ mark, item: itemOf(mark) }));
      list.replaceChildren(...items.map(({ item }) => item));
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

function itemOf({ kind, text, label }: ChartMark): HTMLElement {
  const item = document.createElement('li');
  item.className = 'chart-mark';
  item.dataset['kind'] = kind;
  const button = document.createElement('button');
  button.type = 'button';
  button.title = text;
  button.setAttribute('aria-label', label);
  // The chart captures the pointer for its gestures, which would suppress the click on this button.
  button.addEventListener('pointerdown', (event) => event.stopPropagation());
  const words = document.createElement('span');
  words.className = 'chart-mark-text';
  words.setAttribute('aria-hidden', 'true');
  words.textContent = text;
  item.append(button, words);
  return item;
}
