import { html } from 'htm/preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import { formatNumber, formatTimeMs, formatUnit, hueOf } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { withGaps } from '../state/samples.js';
import { Chart } from './chart.js';

/** So many intervals without a sample are a gap. */
const GAP_INTERVALS = 3;

/**
 * The chart of one sensor, with the sample under the cursor written out above it.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {string | null} props.type
 * @param {string | null} props.unit
 * @param {number | null} props.intervalMs between two samples, as the device told it
 * @param {import('../state/samples.js').Samples} props.samples
 * @param {number} props.from epoch ms
 * @param {number} props.to epoch ms
 * @param {any} [props.children] what stands over an empty chart
 */
export function SensorChart({ name, type, unit, intervalMs, samples, from, to, children }) {
  const [index, setIndex] = useState(/** @type {number | null} */ (null));
  const onPoint = useCallback(setIndex, []);
  const data = useMemo(
    () => withGaps(samples, intervalMs === null ? null : GAP_INTERVALS * intervalMs),
    [samples, intervalMs],
  );
  const ts = index === null ? undefined : data[0][index];
  const value = index === null ? undefined : data[1][index];

  return html`
    <figure class="chart-frame hue-${hueOf(type)}">
      <figcaption>
        <span>${formatUnit(unit)}</span>
        <${Readout} ts=${ts} value=${value} unit=${unit} />
      </figcaption>
      <${Chart} key=${hueOf(type)} label=${`${name} over time; the table below has the same samples`} data=${data} from=${from} to=${to} onPoint=${onPoint} />
      ${children && html`<div class="chart-over">${children}</div>`}
    </figure>
  `;
}

/** @param {{ ts: number | undefined, value: number | null | undefined, unit: string | null }} props */
function Readout({ ts, value, unit }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  if (ts === undefined || value === null || value === undefined) return null;
  return html`
    <output class="readout">
      <span>${formatTimeMs(ts, zone)}</span> <strong>${formatNumber(value)} ${formatUnit(unit)}</strong>
    </output>
  `;
}
