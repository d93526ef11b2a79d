import { signal } from '@preact/signals';
import type { Page } from '../api/types.ts';
import { useQuery, useServices } from './hooks.ts';

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
export const sortKey = (name: string) =>
  name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(DIGITS, '0'));

/** @returns what is not known stands last, either way; equal ones stay in their order */
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

/**
 * The fleet's devices: all of them, or one page of a fleet that is too large; asked for again every now and then.
 *
 * @param query filters and cursor, as they stand in the address
 * @param total devices of the fleet; null: not known yet
 */
export function useDevices(query: URLSearchParams, total: number | null) {
  const { client, vocabulary } = useServices();
  const isHeld = total === null || total <= MOST_DEVICES;
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
