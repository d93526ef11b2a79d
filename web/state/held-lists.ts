import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeviceItem, LatestItem } from '../api/types.ts';
import type { Fleet, FleetSensor } from './fleet.ts';
import { useServices } from './hooks.ts';
import type { Sorting } from './lists.ts';
import { PAGE_ROWS, sorted } from './lists.ts';
import type { Live } from './live.ts';

/**
 * Lists of what this page holds as a whole: they are filtered, sorted and cut into pages here, so that their order holds over all
 * pages.
 */
interface HeldPage<T> {
  /** of the page */
  items: T[];
  /** of all pages */
  total: number;
  /** of the page, from 1; the last one where the address has a later one */
  number: number;
}

/**
 * @param items in order
 * @param query `page` as it stands in the address
 */
export function pageOf<T>(items: T[], query: URLSearchParams): HeldPage<T> {
  const last = Math.max(Math.ceil(items.length / PAGE_ROWS), 1);
  const number = Math.min(Math.max(Math.trunc(Number(query.get('page'))) || 1, 1), last);
  return { items: items.slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS), total: items.length, number };
}

/** @param text that is looked for */
const has = (name: string | null, text: string | null): boolean =>
  !text || (name ?? '').toLowerCase().includes(text.toLowerCase());

/** The sensors of the fleet that match the address: type and site as a whole, `name` in any part of the names of sensor or device. */
export function matchingSensors(sensors: FleetSensor[], query: URLSearchParams): FleetSensor[] {
  const [name, type, site] = ['name', 'type', 'site'].map((filter) => query.get(filter));
  return sensors.filter(
    (sensor) =>
      (!type || sensor.type === type) &&
      (!site || sensor.device.site === site) &&
      (has(sensor.name, name ?? null) || has(sensor.device.name, name ?? null)),
  );
}

/** @returns those that match the address: state and site as a whole, `name` in any part */
export function matchingDevices(devices: DeviceItem[], query: URLSearchParams): DeviceItem[] {
  const [name, state, site] = ['name', 'state', 'site'].map((filter) => query.get(filter));
  return devices.filter(
    (device) =>
      (!state || device.online === (state === 'online')) &&
      (!site || device.site === site) &&
      has(device.name ?? device.device_id, name ?? null),
  );
}

/** The sort value of each column of sensors; the first one is the default. */
const SORT_VALUES: Record<string, (sensor: FleetSensor) => string | number | null> = {
  device: ({ device }) => device.name,
  name: ({ name }) => name,
  type: ({ type }) => type,
  site: ({ device }) => device.site,
  value: ({ value }) => (Number.isNaN(value) ? null : value),
  age: ({ at }) => (at === 0 ? null : -at),
};

/** @returns by device, then by name */
export const inOrder = (sensors: Iterable<FleetSensor>): FleetSensor[] =>
  sorted(
    sorted([...sensors], ({ name }) => name, false),
    ({ device }) => device.name,
    false,
  );

/** @param sensors in order; equal ones stay so */
export const sortedSensors = (sensors: FleetSensor[], { by, down }: Sorting): FleetSensor[] =>
  by === 'device' && !down ? sensors : sorted(sensors, SORT_VALUES[by] ?? (() => null), down);

/** @returns as the API has it */
export const itemOf = ({ id, name, type, unit, device, ts, value }: FleetSensor): LatestItem => ({
  device_id: device.id,
  sensor_id: id,
  device: device.name === device.id ? null : device.name,
  name: name === id ? null : name,
  type,
  unit,
  site: device.site,
  ts: ts || null,
  value: Number.isNaN(value) ? null : value,
});

/** New and renamed sensors join the list after this time at most, in ms. */
const STRUCTURE_MS = 1000;
/** A list that is sorted by what changes is sorted again after so many of these. */
const AGAIN = 10;
/** The snapshot of the fleet is waited for, for so long, in ms. Then the list comes from the API, page by page. */
const WAIT_MS = 4000;

/**
 * The list of sensors from the fleet that this page follows.
 *
 * @param query filters, `page`
 * @returns `waiting`: the
 * snapshot is coming; `paged`: the fleet is not held as a whole
 */
export function useHeldSensors(
  query: URLSearchParams,
  sorting: Sorting,
): { state: 'held'; page: HeldPage<LatestItem> } | { state: 'waiting' | 'paged'; page: null } {
  const { live } = useServices();
  const { revision, isLate } = useRevision(live);
  const isHeld = live.fleet.holdsAll();
  const address = ['name', 'type', 'site', 'page'].map((name) => query.get(name)).join('\n');
  const all = useMemo(
    () => (isHeld ? inOrder(live.fleet.sensors.values()) : null),
    [live, isHeld, isHeld && live.fleet.structure()],
  );
  const page = useMemo(() => {
    if (!all) return null;
    const cut = pageOf(sortedSensors(matchingSensors(all, query), sorting), query);
    return { ...cut, items: cut.items.map(itemOf) };
  }, [all, revision, address, sorting.by, sorting.down]);
  useEffect(() => {
    if (page) live.seed(page.items);
  }, [live, page]);
  if (page) return { state: 'held', page };
  const comesPaged = isLate || live.fleet.refused() > 0 || live.fleet.isNarrow();
  return { state: comesPaged ? 'paged' : 'waiting', page: null };
}

/**
 * @returns `revision`: another one means that the list has to be made again; `isLate`: the
 * snapshot was waited for long enough
 */
function useRevision(live: Live): { revision: number; isLate: boolean } {
  const [seen, setSeen] = useState({ revision: 0, isLate: false });
  useEffect(() => {
    const { fleet } = live;
    let ticks = 0;
    let last = stateOf(fleet);
    let wasHeld = fleet.holdsAll();
    const look = () => {
      const next = stateOf(fleet);
      const isLate = ticks * STRUCTURE_MS >= WAIT_MS;
      const isOld = next !== last || ticks % AGAIN === 0;
      last = next;
      wasHeld = fleet.holdsAll();
      setSeen((now) =>
        isOld || isLate !== now.isLate ? { revision: now.revision + Number(isOld), isLate } : now,
      );
    };
    const timer = setInterval(() => {
      ticks += 1;
      look();
    }, STRUCTURE_MS);
    // A reader waits for the first list.
    const stopWatching = live.watch(() => {
      if (!wasHeld && fleet.holdsAll()) look();
    });
    return () => {
      clearInterval(timer);
      stopWatching();
    };
  }, [live]);
  return seen;
}

/** @returns another one means that the list has changed */
const stateOf = (fleet: Fleet): string =>
  [fleet.structure(), fleet.holdsAll(), fleet.refused() > 0, fleet.isNarrow()].join(' ');
