import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { useObservable, useParts } from '../state/hooks.js';
import { chartOptions } from './chart-options.js';

/**
 * A line over time. The table beside it says the same to those who cannot see it.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {[number[], (number | null)[]]} props.data as uPlot takes it: epoch ms, values
 * @param {number} props.from epoch ms at the left edge
 * @param {number} props.to epoch ms at the right edge
 * @param {(index: number | null) => void} props.onPoint the sample under the cursor
 */
export function Chart({ label, data, from, to, onPoint }) {
  const { preferences } = useParts();
  const { theme, zone } = useObservable(preferences);
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chart = useRef(/** @type {uPlot | null} */ (null));
  const shown = useRef({ data, from, to });
  shown.current = { data, from, to };

  // Another theme means other colours, which are read anew.
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const build = () => {
      chart.current?.destroy();
      const { clientWidth: width, clientHeight: height } = element;
      const options = chartOptions({ host: element, width, height, zone, onPoint });
      chart.current = new uPlot(options, shown.current.data, element);
      show(chart.current, shown.current);
    };
    build();
    const resizes = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    resizes.observe(element);
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', build);
    return () => {
      system.removeEventListener('change', build);
      resizes.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [theme, zone, onPoint]);

  useLayoutEffect(() => {
    if (chart.current) show(chart.current, { data, from, to });
  }, [data, from, to]);

  return html`
    <div
      class="chart"
      ref=${host}
      role="img"
      tabindex="0"
      aria-label=${label}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => chart.current && moveByKey(chart.current, event)}
      onBlur=${() => chart.current?.setCursor({ left: -10, top: -10 })}
    ></div>
  `;
}

/** @param {uPlot} chart @param {{ data: [number[], (number | null)[]], from: number, to: number }} what */
function show(chart, { data, from, to }) {
  chart.batch(() => {
    if (chart.data !== data) chart.setData(data, false);
    chart.setScale('x', { min: from, max: to });
  });
}

/**
 * Arrow keys walk from sample to sample, Home and End to the edges.
 *
 * @param {uPlot} chart
 * @param {KeyboardEvent} event
 */
function moveByKey(chart, event) {
  const times = chart.data[0];
  const last = times.length - 1;
  const at = chart.cursor.idx ?? null;
  const target = {
    ArrowLeft: at === null ? last : at - 1,
    ArrowRight: at === null ? last : at + 1,
    Home: 0,
    End: last,
  }[event.key];
  if (target === undefined || last < 0) return;
  event.preventDefault();
  const ts = times[Math.min(Math.max(target, 0), last)] ?? 0;
  chart.setCursor({ left: chart.valToPos(ts, 'x'), top: chart.over.clientHeight / 2 });
}
