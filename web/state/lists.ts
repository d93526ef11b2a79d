import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeviceItem, LatestItem, Page } from '../api/types.ts';
import type { Fleet, FleetSensor } from './fleet.ts';
import { useQuery, useServices } from './hooks.ts';
import type { Live } from './live.ts';

/** How a list is sorted; in the address `sort=name`, or `sort=-name` the other way round. */
export type Sorting = { by: string; down: boolean };

/** @param columns that can be sorted by; the first one is the usual */
export function sortingOf(query: URLSearchParams, columns: string[]): Sorting {
  const text = query.get('sort') ?? '';
  const down = text.startsWith('-');
  const by = down ? text.slice(1) : text;
  return columns.includes(by) ? { by, down } : { by: columns[0] ?? '', down: false };
}

/** A list in the order of the database, which has no meaning for people. */
export const UNSORTED: Sorting = { by: '', down: false };

/** @returns as the address has it */
export const sortText = ({ by, down }: Sorting): string => (down ? `-${by}` : by);

/** Numbers in names of this many digits sort by their value. */
const DIGITS = 10;

/** A text that plain comparison sorts as people would: a collator takes twenty times as long. */
const sortKey = (name: string) =>
  name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(DIGITS, '0'));

/** Unknown values come last in both directions. Equal ones stay in their order. */
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

/** The state of devices is polled. */
const REFRESH = { refreshMs: 10_000 };

/** A list of so many devices is read as a whole, in pages of a thousand. */
const MOST_DEVICES = 5000;
const DEVICES_PER_REQUEST = 1000;

/** @param total devices of the fleet; null: not known yet */
export const areHeld = (total: number | null): boolean => total === null || total <= MOST_DEVICES;

/**
 * The fleet's devices: all of them, or one page of a fleet that is too large; asked for again every now and then.
 *
 * @param query filters and cursor, as they stand in the address
 * @param total devices of the fleet; null: not known yet
 */
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

/**
 * The rows of a page by cursor. While another filter is read, they are those of the previous filter. If that one
 * found none, the rows are not known.
 *
 * @returns null: not known yet
 */
export const rowsOf = <T>(page: Page<T> | null, isLoading: boolean): T[] | null =>
  page === null || (isLoading && page.items.length === 0) ? null : page.items;

/**
 * Finds the time before which some items of several lists were not read.
 *
 * @param pages of several lists, each with the newest first
 * @param timeOf ISO 8601
 * @returns epoch ms before which some items are missing; null: none are
 */
export function missingBefore<T>(pages: Page<T>[], timeOf: (item: T) => string): number | null {
  const ends = pages.flatMap(({ items, next }) =>
    next === null ? [] : items.slice(-1).map((oldest) => Date.parse(timeOf(oldest))),
  );
  return ends.length === 0 ? null : Math.max(...ends);
}

/** Requests for one page at most: a page of what is rare in a large fleet is short rather than slow. */
const MOST_REQUESTS = 20;

/**
 * A page that is full where there is as much. With filters the API looks at a bounded number of rows for each answer, which may
 * then be short, even empty, before the end.
 */
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

/**
 * The types and sites known so far: what the filters offer. Any other text may still be typed. Both are sorted.
 */
type Words = { types: string[]; sites: string[] };

const inWords = new Intl.Collator('en', { numeric: true });

/** More are no help in a list to choose from. */
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

export const FILTERS = ['name', 'type', 'site'];

/** With several filters the API may give pages that are empty before the end: it reads a bounded number of rows for each. */
const MOST_EMPTY_PAGES = 20;

/**
 * One page of the fleet's latest values; the stream of the whole fleet keeps them new.
 *
 * @param query filters and cursor, as they stand in the address
 * @param isWanted false: nothing is asked for
 */
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

/** Of the filters. */
export type Matcher = (sensor: FleetSensor) => boolean;

/**
 * The filter of the address: type and site as a whole, `name` in any part of the names of sensor or device.
 *
 * @returns null: all
 */
export function sensorMatcher(query: URLSearchParams): Matcher | null {
  const [name, type, site] = ['name', 'type', 'site'].map((filter) => query.get(filter) ?? '');
  if (!(name || type || site)) return null;
  const text = (name ?? '').toLowerCase();
  return (sensor) =>
    (!type || sensor.type === type) &&
    (!site || sensor.device.site === site) &&
    (!text || sensor.name.toLowerCase().includes(text) || sensor.device.name.toLowerCase().includes(text));
}

/** @returns those that match the address */
export function matchingSensors(sensors: FleetSensor[], query: URLSearchParams): FleetSensor[] {
  const matches = sensorMatcher(query);
  return matches ? sensors.filter(matches) : sensors;
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
export const sortSensors = (sensors: Iterable<FleetSensor>): FleetSensor[] =>
  sorted(
    sorted([...sensors], ({ name }) => name, false),
    ({ device }) => device.name,
    false,
  );

/** @param sensors in order; equal ones stay so */
export const sortedSensors = (sensors: FleetSensor[], { by, down }: Sorting): FleetSensor[] =>
  by === 'device' && !down ? sensors : sorted(sensors, SORT_VALUES[by] ?? (() => null), down);

/** @returns as the API has it */
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
  [fleet.structure(), fleet.holdsAll(), fleet.overflow() > 0, fleet.isNarrow()].join(' ');
