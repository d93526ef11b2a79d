import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeviceItem, LatestItem, Page } from '../api/types.ts';
import type { Fleet, FleetSensor } from './fleet.ts';
import { useQuery, useServices } from './hooks.ts';
import type { Live } from './live.ts';
import { isWithin } from './places.ts';

/** The sorting of a list: in the address `sort=name`, or `sort=-name` for descending. */
export type Sorting = { by: string; down: boolean };

/** @param columns columns by which the list can be sorted; the first one is the default */
export function sortingOf(query: URLSearchParams, columns: string[]): Sorting {
  const text = query.get('sort') ?? '';
  const down = text.startsWith('-');
  const by = down ? text.slice(1) : text;
  return columns.includes(by) ? { by, down } : { by: columns[0] ?? '', down: false };
}

/** The sorting of a list in the order of the database, which has no meaning for people. */
export const UNSORTED: Sorting = { by: '', down: false };

/** @returns the sorting in the form of the address */
export const sortText = ({ by, down }: Sorting): string => (down ? `-${by}` : by);

/** Numbers in names with up to this many digits sort by their value. */
const DIGITS = 10;

/** Returns a text that plain comparison sorts in natural order. A collator takes 20 times as long. */
const sortKey = (name: string) =>
  name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(DIGITS, '0'));

/** Sorts a list. Unknown values come last in both directions. Equal items keep their order. */
export function sorted<T>(items: T[], keyOf: (item: T) => string | number | null, down: boolean): T[] {
  const sign = down ? -1 : 1;
  const keyed = items.map((item) => {
    const key = keyOf(item);
    return { item, key: typeof key === 'string' ? sortKey(key) : key };
  });
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a === b ? 0 : a < b ? -sign : sign;
  });
  return keyed.map(({ item }) => item);
}

export const DEVICE_FILTERS = ['state', 'site', 'name'];
export const PAGE_ROWS = 25;

/** Polling interval for the state of devices, in ms. */
const REFRESH = { refreshMs: 10_000 };

/** Maximum number of devices of a list that the browser reads completely, in pages of 1000. */
const MOST_DEVICES = 5000;
const DEVICES_PER_REQUEST = 1000;

/** @param total number of devices of the fleet; null: unknown yet @returns whether the browser reads all devices */
export const areHeld = (total: number | null): boolean => total === null || total <= MOST_DEVICES;

/** Reads the devices of the fleet, or one page of a fleet that is too large. @param total null: unknown yet */
export function useDevices(query: URLSearchParams, total: number | null) {
  const { client, vocabulary } = useServices();
  const isHeld = areHeld(total);
  const filters = Object.fromEntries(DEVICE_FILTERS.map((name) => [name, query.get(name)]));
  const cursor = query.get('cursor');
  const answer = useQuery(
    isHeld ? 'all' : JSON.stringify([filters, cursor]),
    async (signal) => {
      const page = isHeld
        ? await fillPage({
            cursor: null,
            limit: MOST_DEVICES,
            ask: ({ cursor }) => client.devices({ limit: DEVICES_PER_REQUEST, cursor }, signal),
          })
        : await fillPage({
            cursor,
            limit: PAGE_ROWS,
            ask: (part) => client.devices({ ...filters, ...part }, signal),
          });
      vocabulary.learn(page.items.map(({ site }) => ({ type: null, site })));
      return page;
    },
    REFRESH,
  );
  return { ...answer, isHeld };
}

/** While a new filter is read, the rows of the previous one stay, unless it found none. @returns null: unknown yet */
export const rowsOf = <T>(page: Page<T> | null, isLoading: boolean): T[] | null =>
  page === null || (isLoading && page.items.length === 0) ? null : page.items;

/** Maximum number of requests for one page. If few items match in a large fleet, the page is short instead of slow. */
const MOST_REQUESTS = 20;

/** With filters, the API checks a limited number of rows for each answer, so an answer may be short or even empty before the end. */
export async function fillPage<T>({
  cursor,
  limit,
  ask,
}: {
  cursor: string | null;
  limit: number;
  ask: (part: { cursor: string | null; limit: number }) => Promise<Page<T>>;
}): Promise<Page<T>> {
  const items: T[] = [];
  let next = cursor;
  for (let request = 0; request < MOST_REQUESTS; request += 1) {
    const part = await ask({ cursor: next, limit: limit - items.length });
    items.push(...part.items);
    next = part.next;
    if (next === null || items.length >= limit) break;
  }
  return { items, next };
}

/** The types and sites known so far, sorted, which the filters offer. Users may also type other texts. */
type Words = { types: string[]; sites: string[] };

const inWords = new Intl.Collator('en', { numeric: true });

/** Maximum number of offered types and sites. A longer list would not help users. */
const WORDS_KEPT = 1000;

export function createVocabulary() {
  const words = signal<Words>({ types: [], sites: [] });
  return {
    words,
    learn(items: { type: string | null; site: string | null }[]) {
      const { types, sites } = words.peek();
      const next = {
        types: join(
          types,
          items.map(({ type }) => type),
        ),
        sites: join(
          sites,
          items.map(({ site }) => site),
        ),
      };
      if (next.types.length > types.length || next.sites.length > sites.length) words.value = next;
    },
  };
}

export type Vocabulary = ReturnType<typeof createVocabulary>;

function join(known: string[], seen: (string | null)[]): string[] {
  const all = new Set(known);
  for (const word of seen) if (word && all.size < WORDS_KEPT) all.add(word);
  return [...all].sort(inWords.compare);
}

/** Filters that the API knows too. */
const FILTERS = ['name', 'type', 'site'];
/** Filters of a list whose sensors the browser holds. */
const HELD_FILTERS = [...FILTERS, 'place'];

export const isFiltered = (query: URLSearchParams): boolean => HELD_FILTERS.some((name) => query.has(name));

/** Maximum number of requests while the pages are empty: with several filters, the API checks a limited number of rows for each. */
const MOST_EMPTY_PAGES = 20;

/** @param isWanted false: no request is sent */
export function useLatestPage(query: URLSearchParams, isWanted: boolean) {
  const { client, live, vocabulary } = useServices();

  return useQuery(
    isWanted ? [...FILTERS, 'cursor'].map((name) => query.get(name)).join('\n') : 'none',
    async (signal) => {
      if (!isWanted) return null;
      const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]));
      let page = await client.latest({ ...filters, cursor: query.get('cursor'), limit: PAGE_ROWS }, signal);
      for (let empty = 1; page.items.length === 0 && page.next && empty < MOST_EMPTY_PAGES; empty += 1) {
        page = await client.latest({ ...filters, cursor: page.next, limit: PAGE_ROWS }, signal);
      }
      live.seed(page.items);
      vocabulary.learn(page.items);
      return page;
    },
    REFRESH,
  );
}

/** A page of a list that the browser holds completely, so that filters and sorting cover all pages. */
interface HeldPage<T> {
  items: T[];
  total: number;
  /** number of this page, from 1; the last page if the address has a larger number */
  number: number;
}

/** @returns the page that the address names */
export function pageOf<T>(items: T[], query: URLSearchParams): HeldPage<T> {
  const last = Math.max(Math.ceil(items.length / PAGE_ROWS), 1);
  const number = Math.min(Math.max(Math.trunc(Number(query.get('page'))) || 1, 1), last);
  return { items: items.slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS), total: items.length, number };
}

/** @returns whether the name contains the text; an empty text is in every name */
const has = (name: string | null, text: string | null): boolean =>
  !text || (name ?? '').toLowerCase().includes(text.toLowerCase());

export type Matcher = (sensor: FleetSensor) => boolean;

/** @returns whether a sensor has this place or one below it, also while places are not known */
const isPlaced = ({ place }: Pick<FleetSensor, 'place'>, wanted: string): boolean =>
  place === undefined || (place !== null && isWithin(place, wanted));

/**
 * Type and site must be equal; `name` may be any part of a sensor or device name, and `place` is at the sensor or above it.
 * @returns null: all sensors match
 */
export function sensorMatcher(query: URLSearchParams): Matcher | null {
  const [name, type, site, place] = HELD_FILTERS.map((filter) => query.get(filter) ?? '');
  if (!(name || type || site || place)) return null;
  const text = (name ?? '').toLowerCase();
  return (sensor) =>
    (!type || sensor.type === type) &&
    (!site || sensor.device.site === site) &&
    (!place || isPlaced(sensor, place)) &&
    (!text || sensor.name.toLowerCase().includes(text) || sensor.device.name.toLowerCase().includes(text));
}

export function matchingSensors(sensors: FleetSensor[], query: URLSearchParams): FleetSensor[] {
  const matches = sensorMatcher(query);
  return matches ? sensors.filter(matches) : sensors;
}

/**
 * @returns devices that match the address: equal state and site, `name` as any part of the name, and `place` at any sensor or above it
 */
export function matchingDevices(
  devices: DeviceItem[],
  query: URLSearchParams,
  fleet: Pick<Fleet, 'devices'>,
): DeviceItem[] {
  const [name, state, site, place] = ['name', 'state', 'site', 'place'].map((filter) => query.get(filter));
  const isAt = (id: string, wanted: string) =>
    fleet.devices.get(id)?.sensors.some((sensor) => isPlaced(sensor, wanted)) ?? false;
  return devices.filter(
    (device) =>
      (!state || device.state === state) &&
      (!site || device.site === site) &&
      (!place || isAt(device.device_id, place)) &&
      has(device.name ?? device.device_id, name ?? null),
  );
}

/** The value by which each column sorts a sensor, by name of the column. The first column is the default. */
const SORT_VALUES: Record<string, (sensor: FleetSensor) => string | number | null> = {
  device: ({ device }) => device.name,
  name: ({ name }) => name,
  type: ({ type }) => type,
  site: ({ device }) => device.site,
  value: ({ value }) => (Number.isNaN(value) ? null : value),
  age: ({ at }) => (at === 0 ? null : -at),
};

/** @returns sensors sorted by device, then by name */
export const sortSensors = (sensors: Iterable<FleetSensor>): FleetSensor[] =>
  sorted(
    sorted([...sensors], ({ name }) => name, false),
    ({ device }) => device.name,
    false,
  );

/** @param sensors sorted by name; equal sensors keep this order */
export const sortedSensors = (sensors: FleetSensor[], { by, down }: Sorting): FleetSensor[] =>
  by === 'device' && !down ? sensors : sorted(sensors, SORT_VALUES[by] ?? (() => null), down);

export const itemOf = ({ id, name, type, unit, device, intervalMs, ts, value }: FleetSensor): LatestItem => ({
  device_id: device.id,
  sensor_id: id,
  device: device.name === device.id ? null : device.name,
  name: name === id ? null : name,
  type,
  unit,
  site: device.site,
  interval_ms: intervalMs || undefined,
  ts: ts || null,
  value: Number.isNaN(value) ? null : value,
});

/** Maximum time in ms until new and renamed sensors appear in the list. */
const STRUCTURE_MS = 1000;
/** Number of intervals of `STRUCTURE_MS` after which a list that is sorted by changing values is sorted again. */
const AGAIN = 10;
/** Maximum wait for the snapshot of the fleet, in ms. Afterwards, the list comes from the API, page by page. */
const WAIT_MS = 4000;

/** @returns `waiting`: the snapshot is still arriving; `paged`: the browser does not hold the whole fleet */
export function useHeldSensors(
  query: URLSearchParams,
  sorting: Sorting,
): { state: 'held'; page: HeldPage<LatestItem> } | { state: 'waiting' | 'paged'; page: null } {
  const { live } = useServices();
  const { revision, isLate } = useRevision(live);
  const isHeld = live.fleet.holdsAll();
  const address = [...HELD_FILTERS, 'page'].map((name) => query.get(name)).join('\n');
  const all = useMemo(
    () => (isHeld ? sortSensors(live.fleet.sensors.values()) : null),
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
  const comesPaged = isLate || live.fleet.overflow() > 0 || live.fleet.isNarrow();
  return { state: comesPaged ? 'paged' : 'waiting', page: null };
}

/** @returns `revision`: a change means that the list must be computed again; `isLate`: the wait for the snapshot is over */
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
    // The user waits for the first list, so the first list does not wait for the next tick.
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

/** @returns a text that changes when the list changes */
const stateOf = (fleet: Fleet): string =>
  [fleet.structure(), fleet.holdsAll(), fleet.overflow() > 0, fleet.isNarrow()].join(' ');
