import { LRUCache } from 'lru-cache';
import { BIRTH_REPEAT_SHARE, DAY_MS } from '../../../schema/rules.js';
import { shareReads } from '../registry/cache.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { Metric } from './payload.js' */

/** Metrics whose definitions are kept in memory, together: about 250 bytes each. */
const MOST_METRICS = 300_000;

/** @typedef {Pick<Identity, 'id' | 'bytes'>} Key */

/**
 * What births said of metrics, kept in the database, so that data with aliases alone is understood after a restart.
 * Data is read by the newest birth that is not after it: what was on its way when a node was born anew still means
 * what it meant.
 *
 * @param {object} deps
 * @param {SparkplugStore} deps.store
 * @param {Retry} deps.retry
 * @param {number} deps.historyDays for which the database keeps them
 */
export function createDefinitionBook({ store, retry, historyDays }) {
  const repeatMs = historyDays * DAY_MS * BIRTH_REPEAT_SHARE;
  /** @type {LRUCache<string, Definitions>} the newest of each, by the id of the node or device */
  const newest = new LRUCache({
    maxSize: MOST_METRICS,
    sizeCalculation: ({ datatypes }) => 1 + datatypes.size,
  });

  /** @param {Key} key @param {number} [at] epoch ms @returns {Promise<Definitions | null>} */
  async function read({ bytes }, at) {
    const row = await retry.run(() => store.birthAt(bytes, at));
    return row && readDefinitions(row.metrics, row.bornAt);
  }

  /** @param {Key} key @returns {Promise<Definitions | null>} */
  async function load(key) {
    const found = await read(key);
    if (found && !newest.has(key.id)) newest.set(key.id, found);
    return newest.get(key.id) ?? null;
  }

  const readNewest = shareReads(load);

  /** @param {Key} key @param {number} at epoch ms @returns {Promise<Definitions | null>} null: no birth that holds then is known */
  async function definitionsAt(key, at) {
    const known = newest.get(key.id) ?? (await readNewest(key));
    return known && known.bornAt > at ? read(key, at) : known;
  }

  return {
    at: definitionsAt,

    /**
     * The same definitions again are not written: a node that is born every minute would fill its partition with them.
     * They are once they are so old that the database might forget them.
     *
     * @param {Key} key
     * @param {Definitions} definitions of a birth
     * @returns {Promise<void>} settles when they are committed
     */
    async enter(key, definitions) {
      const { bornAt, text } = definitions;
      const before = await definitionsAt(key, bornAt);
      if (before?.text === text && bornAt - before.bornAt < repeatMs) return;
      await retry.run(() => store.writeBirth(key.bytes, bornAt, text));
      const known = newest.get(key.id);
      if (!known || known.bornAt <= bornAt) newest.set(key.id, definitions);
    },
  };
}

/** @typedef {ReturnType<typeof createDefinitionBook>} DefinitionBook */

/**
 * What a birth says of the metrics that later messages call by name or by alias.
 *
 * @typedef {object} Definitions
 * @property {number} bornAt epoch ms: from then on they hold
 * @property {string} text as it is stored: JSON, `[[name, alias or null, datatype], ...]`
 * @property {Map<number | string, string>} names by alias
 * @property {Map<string, number>} datatypes by name
 */

/**
 * @param {Metric[]} metrics of a birth, which tells name, alias and type of each
 *   (tck-id-payloads-alias-birth-requirement, tck-id-payloads-metric-datatype-req)
 * @param {number} bornAt epoch ms
 * @returns {Definitions}
 */
export function definitionsOf(metrics, bornAt) {
  const named = metrics.filter(({ name }) => name !== null);
  return readDefinitions(
    JSON.stringify(named.map(({ name, alias, datatype, implied }) => [name, alias, datatype || implied])),
    bornAt,
  );
}

/** @param {string} text @param {number} bornAt epoch ms @returns {Definitions} */
export function readDefinitions(text, bornAt) {
  /** @type {Array<[name: string, alias: number | string | null, datatype: number]>} */
  const entries = JSON.parse(text);
  /** @type {Definitions} */
  const definitions = { bornAt, text, names: new Map(), datatypes: new Map() };
  for (const [name, alias, datatype] of entries) {
    if (alias !== null) definitions.names.set(alias, name);
    definitions.datatypes.set(name, datatype);
  }
  return definitions;
}
