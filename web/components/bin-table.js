import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import {
  decimalsFor,
  formatCount,
  formatDateTime,
  formatNumber,
  formatStep,
  formatUnit,
  formatZone,
} from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';

const ROWS = 25;
const MORE_ROWS = 100;

/**
 * The bins of a chart in figures, newest first.
 *
 * @param {{ shape: import('../chart/shape.js').Shape, unit: string | null }} props
 */
export function BinTable({ shape, unit }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const [rows, setRows] = useState(ROWS);
  const places = [...shape.ts.keys()].slice(-rows).reverse();
  const decimals = decimalsFor(places.flatMap((at) => [shape.min[at] ?? 0, shape.max[at] ?? 0]));
  const written = formatUnit(unit);
  const hidden = shape.ts.length - places.length;
  return html`
    <div class="table-scroll" tabindex="0" role="region" aria-label="Points of the chart">
    <table class="samples bins">
      <caption>
        Points of the chart, each of ${formatStep(shape.stepMs ?? 0)}, newest first
      </caption>
      <thead>
        <tr>
          <th scope="col">From ${formatZone(zone, shape.to)}</th>
          ${['Lowest', 'Average', 'Highest'].map((label) => html`<th scope="col" class="col-number">${label} ${written}</th>`)}
          <th scope="col" class="col-number">Samples</th>
        </tr>
      </thead>
      <tbody>
        ${places.map((at) => {
          const ts = shape.ts[at] ?? 0;
          return html`
            <tr key=${ts}>
              <td><time datetime=${new Date(ts).toISOString()}>${formatDateTime(ts, zone)}</time></td>
              <td class="col-number">${formatNumber(shape.min[at], decimals)}</td>
              <td class="col-number">${formatNumber(shape.avg[at], decimals)}</td>
              <td class="col-number">${formatNumber(shape.max[at], decimals)}</td>
              <td class="col-number">${formatCount(shape.count[at])}</td>
            </tr>
          `;
        })}
      </tbody>
    </table>
    </div>
    ${
      hidden > 0 &&
      html`<p class="more">
        <button type="button" class="button" onClick=${() => setRows(rows + MORE_ROWS)}>
          Show ${formatCount(Math.min(hidden, MORE_ROWS))} more
        </button>
        <span>of ${formatCount(shape.ts.length)}</span>
      </p>`
    }
  `;
}
