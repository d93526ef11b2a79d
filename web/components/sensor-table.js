import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { sorted, sortingOf } from '../state/sorting.js';
import { SensorRow } from './sensor-row.js';
import { SortHeader } from './sort-header.js';

/** @import { LatestItem } from '../api/types.js' */

/** What each column is sorted by. @type {Record<string, (item: LatestItem) => string | number | null>} */
const SORT_VALUES = {
  device: ({ device, device_id }) => device ?? device_id,
  name: ({ name, sensor_id }) => name ?? sensor_id,
  type: ({ type }) => type,
  site: ({ site }) => site,
  value: ({ value }) => value,
  age: ({ ts }) => (ts === null ? null : -Date.parse(ts)),
};
const COLUMNS = Object.keys(SORT_VALUES);

/**
 * Sensors and their newest values, one a row; sorted as they stood when the page came, so that rows keep their places while values change.
 *
 * @param {object} props
 * @param {string} props.caption said, not shown
 * @param {LatestItem[] | null} props.items null: not known yet
 * @param {boolean} [props.busy] another page is on its way
 * @param {boolean} [props.ofDevice] all of one device, which need not be said in each row
 * @param {number} [props.expected] rows to keep room for until the items are there
 * @param {(filter: { type?: string, site?: string }) => string} [props.filterHref]
 */
export function SensorTable({ caption, items, busy = false, ofDevice = false, expected = 10, filterHref }) {
  const { router } = useParts();
  const { query } = useObservable(router.place);
  const sorting = sortingOf(query, ofDevice ? COLUMNS.toSpliced(0, 1) : COLUMNS);
  /** @param {string} by @param {string} label @param {string} [name] */
  const head = (by, label, name) =>
    html`<${SortHeader} label=${label} by=${by} sorting=${sorting} class=${name} />`;
  return html`
    <table class="sensors" data-of-device=${ofDevice} aria-busy=${busy}>
      <caption class="said">${caption}</caption>
      <thead>
        <tr>
          ${head('name', 'Sensor')}
          ${!ofDevice && head('device', 'Device', 'col-device')}
          ${head('type', 'Type', 'col-type')}
          ${!ofDevice && head('site', 'Site', 'col-site')}
          <th scope="col" class="col-spark">Lately</th>
          ${head('value', 'Value', 'col-value')}
          ${head('age', 'Age', 'col-age')}
        </tr>
      </thead>
      <tbody>
        ${
          items
            ? sorted(items, SORT_VALUES[sorting.by] ?? (() => null), sorting.down).map(
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
