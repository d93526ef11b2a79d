import { LRUCache } from 'lru-cache';
import { BIRTH_REPEAT_SHARE, DAY_MS } from '../../../schema/rules.js';
import { shareReads } from '../shared-reads.js';
import { readDefinitions } from './definitions.js';

/** Metrics whose definitions are kept in memory, together: about 250 bytes each. */
const MOST_METRICS = 300_000;

/** @typedef {import('./definitions.js').Definitions} Definitions */
/** @typedef {Pick<import('../../../schema/ids.js').Identity, 'id' | 'bytes'>} Key */

/**
 * What births said of metrics, kept in the database, so that data with aliases alone is understood after a restart.
 * Data is read by the newest birth that is not after it: what was on its way when a node was born anew still means
 * what it meant.
 *
 * @param {object} parts
 * @param {import('../../store/sparkplug.js').SparkplugStore} parts.store
 * @param {import('../../store/retry.js').Patience} parts.patience
 * @param {number} parts.historyDays for which the database keeps them
 */
export function createDefinitionBook({ store, patience, historyDays }) {
  const repeatMs = historyDays * DAY_MS * BIRTH_REPEAT_SHARE;
  /** @type {LRUCache<string, Definitions>} the newest of each, by the id of the node or device */
  const newest = new LRUCache({
    maxSize: MOST_METRICS,
    sizeCalculation: ({ datatypes }) => 1 + datatypes.size,
  });

  /** @param {Key} key @param {number} [at] epoch ms @returns {Promise<Definitions | null>} */
  async function read({ bytes }, at) {
    const row = await patience.persist(() => store.birthAt(bytes, at));
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
      await patience.persist(() => store.writeBirth(key.bytes, bornAt, text));
      const known = newest.get(key.id);
      if (!known || known.bornAt <= bornAt) newest.set(key.id, definitions);
    },
  };
}

/** @typedef {ReturnType<typeof createDefinitionBook>} DefinitionBook */
