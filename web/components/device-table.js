import { html } from 'htm/preact';
import { NOTHING } from '../format.js';
import { deviceHref } from '../routes.js';
import { lastSeenAt } from '../state/device.js';
import { useObservable, useServices } from '../state/hooks.js';
import { sorted } from '../state/lists.js';
import { Online } from './device-title.js';
import { SortHeader } from './list-controls.js';
import { Age } from './value.js';

/** @import { DeviceItem } from '../api/types.js' */
/** @import { Sorting } from '../state/lists.js' */

/** The sort value of each column; the first column is the default. @type {Record<string, (device: DeviceItem) => string | number | null>} */
const SORT_VALUES = {
  name: ({ name, device_id }) => name ?? device_id,
  site: ({ site }) => site,
  state: ({ online }) => (online ? 'online' : 'offline'),
};

export const DEVICE_COLUMNS = [...Object.keys(SORT_VALUES), 'last-seen'];

/**
 * Devices, one a row.
 *
 * @param {object} props
 * @param {DeviceItem[] | null} props.items null: not known yet
 * @param {Sorting} props.sorting
 * @param {boolean} props.busy another page is on its way
 * @param {number} props.expected rows to keep room for until the items are there
 * @param {(site: string) => string} props.siteHref where a site leads
 */
export function DeviceTable({ items, sorting, busy, expected, siteHref }) {
  const { by, down } = sorting;
  const lastSeenOf = useLastSeen();
  const keyOf = SORT_VALUES[by] ?? ((device) => -Date.parse(lastSeenOf(device) ?? '') || null);
  return html`
    <table class="devices" aria-busy=${busy}>
      <caption class="visually-hidden">Devices</caption>
      <thead>
        <tr>
          <${SortHeader} label="Device" by="name" sorting=${sorting} />
          <${SortHeader} label="Site" by="site" sorting=${sorting} class="col-site" />
          <${SortHeader} label="State" by="state" sorting=${sorting} class="col-state" />
          <${SortHeader} label="Last seen" by="last-seen" sorting=${sorting} class="col-last-seen" />
        </tr>
      </thead>
      <tbody>
        ${
          items
            ? sorted(items, keyOf, down).map(
                (device) =>
                  html`<${DeviceRow} key=${device.device_id} device=${device} siteHref=${siteHref} />`,
              )
            : Array.from({ length: expected }, (_, index) => html`<${EmptyRow} key=${index} />`)
        }
      </tbody>
    </table>
  `;
}

/** @param {{ device: DeviceItem, siteHref: (site: string) => string }} props */
const DeviceRow = ({ device, siteHref }) => {
  const { device_id, name, site, online } = device;
  return html`
  <tr>
    <th scope="row">
      <a class="row-link" href=${deviceHref(device_id)}>${name ?? device_id}</a>
      ${name === null && html` <span class="quiet nameless">no name yet</span>`}
      <span class="under">${site}</span>
    </th>
    <td class="col-site">
      ${
        site
          ? html`<a href=${siteHref(site)} title=${`Only ${site}`}>${site}</a>`
          : html`<span class="quiet">${NOTHING}</span>`
      }
    </td>
    <td class="col-state"><${Online} online=${online} /></td>
    <td class="col-last-seen"><${LastSeen} device=${device} /></td>
  </tr>
`;
};

/** Counts by itself, and restarts with each sample. @param {{ device: DeviceItem }} props */
function LastSeen({ device }) {
  useObservable(useServices().clock);
  return html`<${Age} ts=${useLastSeen()(device)} />`;
}

/** @returns {(device: DeviceItem) => string | null} when it last sent a message or a sample */
function useLastSeen() {
  const { live, clock } = useServices();
  return ({ device_id, last_seen }) =>
    lastSeenAt(last_seen, live.fleet.devices.get(device_id)?.sensors ?? [], clock.get());
}

const EmptyRow = () => html`
  <tr class="waiting" aria-hidden="true">
    <td><span class="bar bar-long"></span></td>
    <td class="col-site"><span class="bar"></span></td>
    <td class="col-state"><span class="bar"></span></td>
    <td class="col-last-seen"></td>
  </tr>
`;
