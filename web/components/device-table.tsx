import { NOTHING } from '../format.ts';
import { deviceHref } from '../routes.ts';
import { lastSeenAt, useRefusedDevices } from '../state/device.ts';
import { useServices } from '../state/hooks.ts';
import { sorted } from '../state/lists.ts';
import { AlarmMark, Online, Refusals } from './device-title.tsx';
import { SortHeader } from './list-controls.tsx';
import { Age } from './value.tsx';
import '../styles/tables.css';
import type { DeviceItem, RefusedDevice } from '../api/types.ts';
import type { Sorting } from '../state/lists.ts';

/** The sort value of each column; the first column is the default. */
const SORT_VALUES: Record<string, (device: DeviceItem) => string | number | null> = {
  name: ({ name, device_id }) => name ?? device_id,
  site: ({ site }) => site,
  state: ({ online }) => (online ? 'online' : 'offline'),
};

export const DEVICE_COLUMNS = [...Object.keys(SORT_VALUES), 'last-seen'];

/** @param by a column; empty: the devices stay as they came */
export function useSortValue(by: string): (device: DeviceItem) => string | number | null {
  const lastSeenOf = useLastSeen();
  if (by === '') return () => null;
  return SORT_VALUES[by] ?? ((device) => -Date.parse(lastSeenOf(device) ?? '') || null);
}

/** Devices, one a row. */
export function DeviceTable({
  items,
  sorting,
  busy,
  expected,
  siteHref,
}: {
  /** null: not known yet */
  items: DeviceItem[] | null;
  sorting: Sorting;
  /** another page is on its way */
  busy: boolean;
  /** rows to keep room for until the items are there */
  expected: number;
  /** where a site leads */
  siteHref: (site: string) => string;
}) {
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

const DeviceRow = ({
  device,
  refusals,
  siteHref,
}: {
  device: DeviceItem;
  /** what it sent and was refused */
  refusals: RefusedDevice | null;
  siteHref: (site: string) => string;
}) => {
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

/** Counts by itself, and restarts with each sample. */
function LastSeen({ device }: { device: DeviceItem }) {
  return <Age ts={useLastSeen()(device)} />;
}

/** @returns when it last sent a message or a sample */
function useLastSeen(): (device: DeviceItem) => string | null {
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
