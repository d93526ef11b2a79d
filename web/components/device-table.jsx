import { NOTHING } from '../format.js';
import { deviceHref } from '../routes.js';
import { lastSeenAt, useRefusedDevices } from '../state/device.js';
import { useServices } from '../state/hooks.js';
import { sorted } from '../state/lists.js';
import { AlarmMark, Online, Refusals } from './device-title.jsx';
import { SortHeader } from './list-controls.jsx';
import { Age } from './value.jsx';
import '../styles/tables.css';

/** @import { DeviceItem, RefusedDevice } from '../api/types.js' */
/** @import { Sorting } from '../state/lists.js' */

/** The sort value of each column; the first column is the default. @type {Record<string, (device: DeviceItem) => string | number | null>} */
const SORT_VALUES = {
  name: ({ name, device_id }) => name ?? device_id,
  site: ({ site }) => site,
  state: ({ online }) => (online ? 'online' : 'offline'),
};

export const DEVICE_COLUMNS = [...Object.keys(SORT_VALUES), 'last-seen'];

/**
 * @param {string} by a column; empty: the devices stay as they came
 * @returns {(device: DeviceItem) => string | number | null}
 */
export function useSortValue(by) {
  const lastSeenOf = useLastSeen();
  if (by === '') return () => null;
  return SORT_VALUES[by] ?? ((device) => -Date.parse(lastSeenOf(device) ?? '') || null);
}

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
  const keyOf = useSortValue(sorting.by);
  const refused = new Map(useRefusedDevices().map((device) => [device.device_id, device]));
  return (
    <table class="devices" aria-busy={busy}>
      <caption class="visually-hidden">Devices</caption>
      <thead>
        <tr>
          <SortHeader label="Device" by="name" sorting={sorting} />
          <SortHeader label="Site" by="site" sorting={sorting} class="col-site" />
          <SortHeader label="State" by="state" sorting={sorting} class="col-state" />
          <SortHeader label="Last seen" by="last-seen" sorting={sorting} class="col-last-seen" />
        </tr>
      </thead>
      <tbody>
        {items
          ? sorted(items, keyOf, sorting.down).map((device) => (
              <DeviceRow
                key={device.device_id}
                device={device}
                refusals={refused.get(device.device_id) ?? null}
                siteHref={siteHref}
              />
            ))
          : Array.from({ length: expected }, (_, index) => <EmptyRow key={index} />)}
      </tbody>
    </table>
  );
}

/**
 * @param {object} props
 * @param {DeviceItem} props.device
 * @param {RefusedDevice | null} props.refusals what it sent and was refused
 * @param {(site: string) => string} props.siteHref
 */
const DeviceRow = ({ device, refusals, siteHref }) => {
  const { device_id, name, site, label, online } = device;
  return (
    <tr>
      <th scope="row">
        <a class="row-link" href={deviceHref(device_id, name)}>
          {name ?? device_id}
        </a>
        {name === null && (
          <>
            {' '}
            <span class="quiet nameless">no name yet</span>
          </>
        )}
        {label && <span class="row-label">{label}</span>}
        <span class="device-refusals">
          <AlarmMark device={device_id} />
          {refusals && <Refusals refusals={refusals} online={online} />}
        </span>
        <span class="under">{site}</span>
      </th>
      <td class="col-site">
        {site ? (
          <a href={siteHref(site)} title={`Only ${site}`}>
            {site}
          </a>
        ) : (
          <span class="quiet">{NOTHING}</span>
        )}
      </td>
      <td class="col-state">
        <Online online={online} />
      </td>
      <td class="col-last-seen">
        <LastSeen device={device} />
      </td>
    </tr>
  );
};

/** Counts by itself, and restarts with each sample. @param {{ device: DeviceItem }} props */
function LastSeen({ device }) {
  return <Age ts={useLastSeen()(device)} />;
}

/** @returns {(device: DeviceItem) => string | null} when it last sent a message or a sample */
function useLastSeen() {
  const { live, clock } = useServices();
  return ({ device_id, last_seen }) =>
    lastSeenAt(last_seen, live.fleet.devices.get(device_id)?.sensors ?? [], clock.time.value);
}

const EmptyRow = () => (
  <tr class="waiting" aria-hidden="true">
    <td>
      <span class="bar bar-long" />
    </td>
    <td class="col-site">
      <span class="bar" />
    </td>
    <td class="col-state">
      <span class="bar" />
    </td>
    <td class="col-last-seen" />
  </tr>
);
