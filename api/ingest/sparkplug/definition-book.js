import { LRUCache } from 'lru-cache';
import { BIRTH_REPEAT_SHARE, DAY_MS } from '../../../schema/rules.js';
import { shareReads } from '../registry/cache.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { Metric } from './payload.js' */

/** Limit of all metric definitions in memory, at about 250 bytes each. */
const MAX_METRICS = 300_000;

/** @typedef {Pick<Identity, 'id' | 'bytes'>} Key */

/**
 * Keeps the metric definitions of births in the database, so that data with only aliases can be decoded after a restart. A message is
 * decoded with the newest birth that is not after it. So a message that was under way during a rebirth keeps its meaning.
 */
export class DefinitionBook {
  #store;
  #retry;
  #repeatMs;
  /** @type {LRUCache<string, Definitions>} the newest of each, by the id of the node or device */
  #newest = new LRUCache({
    maxSize: MAX_METRICS,
    sizeCalculation: ({ datatypes }) => 1 + datatypes.size,
  });
  #readNewest = shareReads((/** @type {Key} */ key) => this.#load(key));

  /**
   * @param {object} deps
   * @param {SparkplugStore} deps.store
   * @param {Retry} deps.retry
   * @param {number} deps.historyDays for which the database keeps definitions
   */
  constructor({ store, retry, historyDays }) {
    this.#store = store;
    this.#retry = retry;
    this.#repeatMs = historyDays * DAY_MS * BIRTH_REPEAT_SHARE;
  }

  /**
   * Finds the definitions of the newest birth that is not after a time.
   *
   * @param {Key} key
   * @param {number} at epoch ms
   * @returns {Promise<Definitions | null>} null: no valid birth is known
   */
  async at(key, at) {
    const known = this.#newest.get(key.id) ?? (await this.#readNewest(key));
    return known && known.bornAt > at ? this.#read(key, at) : known;
  }

  /**
   * Writes the definitions of a birth. It does not write unchanged definitions, because a node with a birth every minute would fill its
   * partition. It writes them again before the database expires them.
   *
   * @param {Key} key
   * @param {Definitions} definitions of a birth
   * @returns {Promise<void>} settles when they are committed
   */
  async enter(key, definitions) {
    const { bornAt, text } = definitions;
    const before = await this.at(key, bornAt);
    if (before?.text === text && bornAt - before.bornAt < this.#repeatMs) return;
    await this.#retry.run(() => this.#store.writeBirth(key.bytes, bornAt, text));
    const known = this.#newest.get(key.id);
    if (!known || known.bornAt <= bornAt) this.#newest.set(key.id, definitions);
  }

  /** @param {Key} key @param {number} [at] epoch ms @returns {Promise<Definitions | null>} */
  async #read({ bytes }, at) {
    const row = await this.#retry.run(() => this.#store.birthAt(bytes, at));
    return row && readDefinitions(row.metrics, row.bornAt);
  }

  /** @param {Key} key @returns {Promise<Definitions | null>} */
  async #load(key) {
    const found = await this.#read(key);
    if (found && !this.#newest.has(key.id)) this.#newest.set(key.id, found);
    return this.#newest.get(key.id) ?? null;
  }
}

/**
 * The metrics of a birth. Later messages refer to them by name or alias.
 *
 * @typedef {object} Definitions
 * @property {number} bornAt start of their validity, in epoch ms
 * @property {string} text as it is stored: JSON, `[[name, alias or null, datatype], ...]`
 * @property {Map<number | string, string>} names by alias
 * @property {Map<string, number>} datatypes by name
 */

/**
 * @param {Metric[]} metrics of a birth, with name, alias and type of each
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
