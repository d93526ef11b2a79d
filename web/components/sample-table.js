import { html } from 'htm/preact';
import { sideOf } from '../state/thresholds.js';
import { useSamplePages } from '../chart/use-sample-pages.js';
import {
  decimalsFor,
  formatDateTime,
  formatNumber,
  formatTimeMs,
  formatUnit,
  formatZone,
} from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { Beyond } from './beyond.js';
import { ProblemNotice } from './notice.js';
import { Pager } from './pager.js';

/** @import { Thresholds } from '../state/thresholds.js' */
/** @import { Window } from '../chart/window.js' */

/**
 * The samples themselves, page by page.
 *
 * @param {object} props
 * @param {{ device_id: string, sensor_id: string }} props.sensor
 * @param {Window} props.window
 * @param {'asc' | 'desc'} props.order
 * @param {string | null} props.unit
 * @param {Thresholds} props.thresholds
 */
export function SampleTable({ sensor, window, order, unit, thresholds }) {
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const pages = useSamplePages(sensor, window, order);
  const { items, loading, problem } = pages;
  const hasLines = thresholds.low !== null || thresholds.high !== null;
  const decimals = decimalsFor(items.map(({ value }) => value));

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${pages.reload} />`;
  if (items.length === 0) {
    return html`<p class="none">${loading ? 'Reading samples…' : 'No samples in this range.'}</p>`;
  }
  return html`
    <table class="samples raw" aria-busy=${loading}>
      <caption class="said">Samples, ${order === 'desc' ? 'newest' : 'oldest'} first</caption>
      <thead>
        <tr>
          <th scope="col">Time ${formatZone(zone, Date.parse(items[0]?.ts ?? ''))}</th>
          <th scope="col" class="col-number">Value ${formatUnit(unit)}</th>
          ${hasLines ? html`<th scope="col">Beyond</th>` : html`<td></td>`}
        </tr>
      </thead>
      <tbody>
        ${items.map(({ ts, value }) => {
          const at = Date.parse(ts);
          return html`
            <tr key=${ts}>
              <td><time datetime=${ts}>${formatDateTime(at, zone)}<span class="milliseconds">${formatTimeMs(at, zone).slice(8)}</span></time></td>
              <td class="col-number">${formatNumber(value, decimals)}</td>
              <td><${Beyond} side=${sideOf(value, value, thresholds)} /></td>
            </tr>
          `;
        })}
      </tbody>
    </table>
    <${Pager}
      what="sample"
      shown=${items.length}
      isFirst=${pages.isFirst}
      number=${pages.number}
      onFirst=${pages.goFirst}
      onPrevious=${pages.goBack}
      onNext=${pages.goOn}
    />
  `;
}
