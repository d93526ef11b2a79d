import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import {
  decimalsFor,
  formatCount,
  formatDateTime,
  formatNumber,
  formatTimeMs,
  formatUnit,
  formatZone,
} from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';

const ROWS = 20;
const MORE_ROWS = 100;

/**
 * The newest samples, newest first: the chart in figures.
 *
 * @param {object} props
 * @param {{ ts: number[], value: number[] }} props.samples
 * @param {string | null} props.unit
 */
export function SampleTable({ samples, unit }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const [rows, setRows] = useState(ROWS);
  const newest = samples.ts.slice(-rows).reverse();
  const values = samples.value.slice(-rows).reverse();
  const decimals = decimalsFor(values);
  const hidden = samples.ts.length - newest.length;

  if (newest.length === 0)
    return html`<h2 class="panel-title">Samples</h2><p class="none">None in this range.</p>`;
  return html`
    <table class="samples">
      <caption>
        Samples, newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">Time ${formatZone(zone, newest[0] ?? Date.now())}</th>
          <th scope="col" class="col-number">Value ${formatUnit(unit)}</th>
        </tr>
      </thead>
      <tbody>
        ${newest.map(
          (ts, index) => html`
            <tr key=${ts}>
              <td><time datetime=${new Date(ts).toISOString()}>${formatDateTime(ts, zone)}${formatTimeMs(ts, zone).slice(8)}</time></td>
              <td class="col-number">${formatNumber(values[index], decimals)}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
    ${
      hidden > 0 &&
      html`<p class="more">
        <button type="button" class="button" onClick=${() => setRows(rows + MORE_ROWS)}>
          Show ${formatCount(Math.min(hidden, MORE_ROWS))} more
        </button>
        <span>of ${formatCount(samples.ts.length)}</span>
      </p>`
    }
  `;
}
