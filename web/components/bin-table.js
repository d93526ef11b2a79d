import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { sideOf } from '../state/thresholds.js';
import { PAGE_ROWS } from '../chart/use-sample-pages.js';
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
import { Beyond } from './beyond.js';
import { Pager } from './pager.js';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Thresholds } from '../state/thresholds.js' */

/**
 * The points of a chart in figures, page by page.
 *
 * @param {object} props
 * @param {Shape} props.shape of bins
 * @param {'asc' | 'desc'} props.order
 * @param {string | null} props.unit
 * @param {Thresholds} props.thresholds
 */
export function BinTable({ shape, order, unit, thresholds }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const [page, setPage] = useState(0);
  const count = shape.ts.length;
  // A live window moves on, and another one may have fewer pages.
  const shown = Math.min(page, Math.max(Math.ceil(count / PAGE_ROWS) - 1, 0));
  const ordered = order === 'asc' ? [...shape.ts.keys()] : [...shape.ts.keys()].reverse();
  const places = ordered.slice(shown * PAGE_ROWS, (shown + 1) * PAGE_ROWS);
  const decimals = decimalsFor(places.flatMap((at) => [shape.min[at] ?? 0, shape.max[at] ?? 0]));
  const written = formatUnit(unit);
  return html`
    <div class="table-scroll" tabindex="0" role="region" aria-label="Points of the chart">
      <table class="samples bins">
        <caption class="said">Points of the chart, each of ${formatStep(shape.stepMs ?? 0)}</caption>
        <thead>
          <tr>
            <th scope="col">From ${formatZone(zone, shape.to)}</th>
            ${['Lowest', 'Average', 'Highest'].map(
              (label) => html`<th key=${label} scope="col" class="col-number">${label} ${written}</th>`,
            )}
            <th scope="col" class="col-number">Samples</th>
          </tr>
        </thead>
        <tbody>
          ${places.map((at) => html`<${BinRow} key=${shape.ts[at]} ...${{ shape, at, zone, decimals, thresholds }} />`)}
        </tbody>
      </table>
    </div>
    <${Pager}
      what="point"
      shown=${places.length}
      isFirst=${shown === 0}
      number=${shown + 1}
      onFirst=${() => setPage(0)}
      onPrevious=${shown === 0 ? null : () => setPage(shown - 1)}
      onNext=${(shown + 1) * PAGE_ROWS < count ? () => setPage(shown + 1) : null}
    />
  `;
}

/**
 * @param {{ shape: Shape, at: number, zone: 'local' | 'utc', decimals: number,
 *   thresholds: Thresholds }} props
 */
function BinRow({ shape, at, zone, decimals, thresholds }) {
  const [ts = 0, min = 0, max = 0] = [shape.ts[at], shape.min[at], shape.max[at]];
  return html`
    <tr>
      <td>
        <time datetime=${new Date(ts).toISOString()}>${formatDateTime(ts, zone)}</time>
        ${' '}<${Beyond} side=${sideOf(min, max, thresholds)} />
      </td>
      <td class="col-number">${formatNumber(min, decimals)}</td>
      <td class="col-number">${formatNumber(shape.avg[at], decimals)}</td>
      <td class="col-number">${formatNumber(max, decimals)}</td>
      <td class="col-number">${formatCount(shape.count[at])}</td>
    </tr>
  `;
}
