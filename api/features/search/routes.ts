import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { groupOf } from '../../../schema/ids.ts';
import type { Core } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { fields, json, parseDevice, readQuery } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import type { LiveItem } from '../../live/messages.ts';
import { SCHEMAS } from './schemas.ts';

export const QUERY = {
  q: fields.text.meta({
    description: 'Words. Each is a part of the name, of the device or of the site, in any case.',
    example: 'collar temp',
  }),
  limit: fields.results,
};

export function getSearch({ context: { clock }, store, publishing }: Core): RequestHandler {
  const index = createSearchIndex({ read: publishing.stream.latest, clock });

  /** By the whole name or the id. Devices without sensors are not in the index, and are found only in this way. */
  async function readDevice(text: string) {
    const { id, bytes } = parseDevice(text);
    const row = await store.devices.device({ group: groupOf(bytes, store.groups), bytes });
    return row && deviceResult({ device_id: id, device: row.name, site: row.site });
  }

  return async (req, res) => {
    const { q, limit } = readQuery(req, QUERY);
    const [found, device] = await Promise.all([index.find(q, limit), readDevice(q)]);
    const isKnown = found.some(({ kind, device_id }) => kind === 'device' && device_id === device?.device_id);
    const all = device && !isKnown ? [device, ...found] : found;
    res.json({ items: all.slice(0, limit), more: all.length > limit });
  };
}

/** A site, a device or a sensor. A member that does not apply is null. */
export interface SearchResult {
  kind: 'site' | 'device' | 'sensor';
  /** name, or the id if there is no name */
  name: string;
  device_id: string | null;
  sensor_id: string | null;
  device: string | null;
  type: string | null;
  site: string | null;
}

const deviceResult = ({
  device_id,
  device,
  site,
}: Pick<LiveItem, 'device_id' | 'device' | 'site'>): SearchResult => ({
  kind: 'device',
  name: device ?? device_id,
  device_id,
  sensor_id: null,
  device,
  type: null,
  site,
});

const sensorResult = ({ device_id, sensor_id, device, name, type, site }: LiveItem): SearchResult => ({
  kind: 'sensor',
  name: name ?? sensor_id,
  device_id,
  sensor_id,
  device,
  type,
  site,
});

const siteResult = (site: string): SearchResult => ({
  kind: 'site',
  name: site,
  device_id: null,
  sensor_id: null,
  device: null,
  type: null,
  site,
});

/** In ms. The next search after that builds the index again. */
const MAX_AGE_MS = 10_000;

/** Items that are indexed in one go. Then other requests can run. */
const ITEMS_PER_TURN = 5000;

/** Matches of one rank; further ones are dropped. A text with more matches is too short to be useful. */
const MAX_COLLECTED = 1000;

/** From best to worst: the name equals the text, the name begins with the text, the name contains the text, the words match elsewhere. */
const RANKS = 4;

const KINDS = { site: 0, device: 1, sensor: 2 };

/** Texts in lower case. `text` is searched. */
export type Entry = { name: string; text: string; result: SearchResult };

/**
 * The index is built from the newest values of the fleet at the first search, and serves all searches of ten seconds. A search scans all
 * texts: 5 MB for 100,000 sensors.
 */
export function createSearchIndex({ read, clock }: { read: () => Promise<LiveItem[]>; clock: () => number }) {
  let entries: Promise<Entry[]> | null = null;
  let madeAt = Number.NEGATIVE_INFINITY;

  async function make() {
    const groups: Map<string, SearchResult> = new Map();
    const made: Entry[] = [];
    for (const [count, item] of (await read()).entries()) {
      if (count % ITEMS_PER_TURN === 0) await nextTurn();
      made.push(entryOf(sensorResult(item)));
      groups.set(`device ${item.device_id}`, deviceResult(item));
      if (item.site !== null) groups.set(`site ${item.site}`, siteResult(item.site));
    }
    return [...[...groups.values()].map(entryOf), ...made];
  }

  function current(): Promise<Entry[]> {
    // Use the absolute value, so that the index does not seem younger after the clock was set back.
    if (entries && Math.abs(clock() - madeAt) < MAX_AGE_MS) return entries;
    madeAt = clock();
    const making = make();
    entries = making;
    making.catch(() => {
      if (entries === making) entries = null;
    });
    return making;
  }

  return {
    /** The best matches come first. If there are more than `limit`, the list has one more than `limit`. @throws `unavailable` */
    find: async (text: string, limit: number): Promise<SearchResult[]> =>
      findEntries(await current(), text, limit + 1),
  };
}

function entryOf(result: SearchResult): Entry {
  const { name, device, site, type } = result;
  return {
    name: name.toLowerCase(),
    text: [name, device, site, type].filter(Boolean).join('\n').toLowerCase(),
    result,
  };
}

export function findEntries(entries: Entry[], text: string, limit: number): SearchResult[] {
  const whole = text.trim().toLowerCase();
  const words = whole.split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const ranks: Entry[][] = Array.from({ length: RANKS }, () => []);
  for (const entry of entries) {
    if (!words.every((word) => entry.text.includes(word))) continue;
    const rank = ranks[rankOf(entry.name, whole)];
    if (rank && rank.length < MAX_COLLECTED) rank.push(entry);
  }
  return ranks
    .flatMap((rank) => rank.sort(inOrder))
    .slice(0, limit)
    .map(({ result }) => result);
}

function rankOf(name: string, whole: string) {
  if (name === whole) return 0;
  if (name.startsWith(whole)) return 1;
  return name.includes(whole) ? 2 : 3;
}

const collator = new Intl.Collator('en', { numeric: true });

const inOrder = (a: Entry, b: Entry) =>
  KINDS[a.result.kind] - KINDS[b.result.kind] ||
  collator.compare(a.name, b.name) ||
  collator.compare(a.text, b.text);

export const search: Operation = {
  id: 'search',
  tag: 'devices',
  scope: 'read',
  summary: 'Sites, devices and sensors by any part of their names',
  description: `Every word of \`q\` must be a part of the name, type, device or site of a result, in upper or lower case. Names that are or begin with
the text come first. \`more\` is true if there are more results than \`limit\`. New names are found within ten seconds. A device without
sensors is found by its whole name or its id.`,
  query: QUERY,
  answers: { 200: json(SCHEMAS.SearchResults) },
  problems: ['bad_parameter', 'unavailable'],
};

export const routes: Array<Route<Core>> = [
  { method: 'get', path: '/api/v1/search', operation: search, handler: getSearch },
];
