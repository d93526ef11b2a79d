import { html } from 'htm/preact';
import { keyOf } from '../state/live.js';
import { SensorRow } from './sensor-row.js';

/**
 * Sensors and their newest values, one a row.
 *
 * @param {object} props
 * @param {string} props.caption said, not shown
 * @param {import('../api/types.js').LatestItem[] | null} props.items null: not known yet
 * @param {boolean} [props.busy] another page is on its way
 * @param {boolean} [props.ofDevice] all of one device, which need not be said in each row
 * @param {number} [props.expected] rows to keep room for until the items are there
 * @param {(filter: { type?: string, site?: string }) => string} [props.filterHref]
 */
export function SensorTable({ caption, items, busy = false, ofDevice = false, expected = 10, filterHref }) {
  return html`
    <table class="sensors" data-of-device=${ofDevice} aria-busy=${busy}>
      <caption class="said">${caption}</caption>
      <thead>
        <tr>
          <th scope="col">Sensor</th>
          ${!ofDevice && html`<th scope="col" class="col-device">Device</th>`}
          <th scope="col" class="col-type">Type</th>
          ${!ofDevice && html`<th scope="col" class="col-site">Site</th>`}
          <th scope="col" class="col-spark">Seen live</th>
          <th scope="col" class="col-value">Value</th>
          <th scope="col" class="col-age">Age</th>
        </tr>
      </thead>
      <tbody>
        ${
          items
            ? items.map(
                (item) =>
                  html`<${SensorRow} key=${keyOf(item)} item=${item} ofDevice=${ofDevice} filterHref=${filterHref} />`,
              )
            : Array.from(
                { length: expected },
                (_, index) => html`<${EmptyRow} key=${index} ofDevice=${ofDevice} />`,
              )
        }
      </tbody>
    </table>
  `;
}

/** @param {{ ofDevice: boolean }} props */
function EmptyRow({ ofDevice }) {
  return html`
    <tr class="waiting" aria-hidden="true">
      <td><span class="bar bar-long"></span></td>
      ${!ofDevice && html`<td class="col-device"><span class="bar"></span></td>`}
      <td class="col-type"><span class="bar"></span></td>
      ${!ofDevice && html`<td class="col-site"><span class="bar"></span></td>`}
      <td class="col-spark"></td>
      <td class="col-value"><span class="bar bar-short"></span></td>
      <td class="col-age"></td>
    </tr>
  `;
}
