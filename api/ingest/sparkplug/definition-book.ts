import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.js';
import { BIRTH_REPEAT_SHARE, DAY_MS } from '../../../schema/rules.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { Metric } from './payload.js' */

/** Limit of all metric definitions in memory, at about 250 bytes each. The least recently used birth is evicted. */
const MAX_METRICS = 300_000;

/** @typedef {Pick<Identity, 'id' | 'bytes'>} Key */

/**
 * Limits for one node or device: births that a replay compares, and remembered aliases of earlier births. With more
 * births, a replay uses no alias. With more aliases, the oldest are dropped.
 */
const MAX_LATER_BIRTHS = 50;
const MAX_RETIRED = 10_000;

/**
 * Stores the metric definitions of births in the database, in the order in which the births arrived. The newest birth decodes data of
 * the present session. The birth that arrived before a dead letter decodes this dead letter.
 */
export class DefinitionBook {
  #store;
  #retry;
  #repeatMs;
  /** The newest definitions by the id of the node or device. @type {LRUCache<string, Definitions>} */
  #newest = new LRUCache({
    maxSize: MAX_METRICS,
    sizeCalculation: ({ datatypes }) => 1 + datatypes.size,
  });
  #reads = new SharedCalls((/** @type {Key} */ key) => this.#load(key));

  /**
   * @param {object} deps
   * @param {SparkplugStore} deps.store
   * @param {Retry} deps.retry
   * @param {number} deps.historyDays time in days for which the database keeps definitions
   */
  constructor({ store, retry, historyDays }) {
    this.#store = store;
    this.#retry = retry;
    this.#repeatMs = historyDays * DAY_MS * BIRTH_REPEAT_SHARE;
  }

  /** Returns the definitions of the newest birth from memory only. @param {string} id @returns {Definitions | undefined} */
  peek(id) {
    return this.#newest.get(id);
  }

  /**
   * Finds the definitions of the birth that arrived last.
   *
   * @param {Key} key
   * @returns {Promise<Definitions | null>} null: no valid birth is known
   */
  async newest(key) {
    return this.#newest.get(key.id) ?? this.#reads.call(key);
  }

  /**
   * Finds the definitions that certainly apply to a message that arrived at `receivedAt`. Between the birth before the
   * message and the message, another birth may have changed the aliases without reaching Millrace. So the birth before
   * the message and all later births must be equal in every metric. A node that assigns its aliases again does not
   * return to an earlier assignment, but equal single aliases prove nothing. The message may also be a redelivery that
   * is older than the birth before it. So only aliases with the same meaning in the two births before the message are
   * used.
   *
   * @param {Key} key
   * @param {number} receivedAt epoch ms
   * @returns {Promise<Definitions | null>} null: no definitions are certain
   */
  async certainAt(key, receivedAt) {
    const before = await this.#read(key, receivedAt - 1);
    if (!before) return null;
    const earlier = await this.#read(key, before.bornAt - 1);
    const rows = await this.#retry.run(() =>
      this.#store.birthsSince(key.bytes, receivedAt, MAX_LATER_BIRTHS),
    );
    if (rows.length === MAX_LATER_BIRTHS || rows.some(({ metrics }) => metrics !== before.text)) return null;
    return earlier ? agreementOf(before, earlier) : before;
  }

  /**
   * Writes the definitions of a birth. Unchanged definitions are not written, because a node with a birth every minute
   * would fill its partition. Unchanged definitions are written again only before the database expires them.
   *
   * @param {Key} key
   * @param {Definitions} definitions definitions of a birth
   * @returns {Promise<Definitions>} settles when the definitions are committed
   */
  async write(key, definitions) {
    const before = await this.newest(key);
    if (before?.text === definitions.text && definitions.bornAt - before.bornAt < this.#repeatMs)
      return before;
    // Two births may arrive in one ms, or the clock of Millrace may be set back. The birth that arrived last
    // gets the later time.
    const bornAt = Math.max(definitions.bornAt, (before?.bornAt ?? 0) + 1);
    const written = { ...definitions, bornAt, ...(before ? historyOf(definitions, before) : {}) };
    await this.#retry.run(() => this.#store.writeBirth(key.bytes, bornAt, definitions.text));
    this.#newest.set(key.id, written);
    return written;
  }

  /**
   * Reads the definitions of one birth from the database.
   *
   * @param {Key} key
   * @param {number} [at] epoch ms; default: no limit
   * @returns {Promise<Definitions | null>} those of the newest birth at or before `at`; null: no such birth is stored
   */
  async #read({ bytes }, at) {
    const row = await this.#retry.run(() => this.#store.birthAt(bytes, at));
    return row && readDefinitions(row.metrics, row.bornAt);
  }

  /** Reads the newest definitions from the database, and keeps them in memory. @param {Key} key @returns {Promise<Definitions | null>} */
  async #load(key) {
    const found = await this.#read(key);
    if (found && !this.#newest.has(key.id)) this.#newest.set(key.id, found);
    return this.#newest.get(key.id) ?? null;
  }
}

/**
 * The metric definitions of a birth. Later messages refer to metrics by name or alias.
 *
 * @typedef {object} Definitions
 * @property {number} bornAt start of their validity, in epoch ms
 * @property {string} text the stored form in JSON: `[[name, alias or null, datatype], ...]`
 * @property {Map<number | string, string>} names names of metrics by alias
 * @property {Map<string, number>} datatypes data types of metrics by name
 * @property {Set<number | string>} contested aliases that had another meaning in an earlier birth
 * @property {Map<number | string, string>} retired names of metrics in earlier births, by aliases that are
 *   not in use now
 */

/**
 * @param {Metric[]} metrics metrics of a birth, each with name, alias and data type
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
  const definitions = {
    bornAt,
    text,
    names: new Map(),
    datatypes: new Map(),
    contested: new Set(),
    retired: new Map(),
  };
  /** Aliases that this birth gives to several names. @type {Set<number | string>} */
  const doubled = new Set();
  for (const [name, alias, datatype] of entries) {
    if (alias !== null && (definitions.names.get(alias) ?? name) !== name) doubled.add(alias);
    if (alias !== null) definitions.names.set(alias, name);
    definitions.datatypes.set(name, datatype);
  }
  // An alias is unique in a birth (tck-id-payloads-alias-uniqueness). So a repeated alias cannot be resolved, and is
  // removed.
  for (const alias of doubled) definitions.names.delete(alias);
  return definitions;
}

/** Returns aliases of earlier births. @param {Definitions} definitions @param {Definitions} before definitions of the previous birth */
function historyOf(definitions, before) {
  const retired = new Map([...before.retired, ...before.names]);
  const contested = new Set(before.contested);
  for (const [alias, name] of definitions.names) {
    const earlier = retired.get(alias);
    retired.delete(alias);
    if (earlier === undefined) continue;
    const isSame = earlier === name && before.datatypes.get(name) === definitions.datatypes.get(name);
    if (!isSame) contested.add(alias);
  }
  // A node that never reuses an alias would fill this map, so the oldest aliases are dropped.
  for (const alias of retired.keys()) {
    if (retired.size <= MAX_RETIRED) break;
    retired.delete(alias);
  }
  return { contested, retired };
}

/** @param {Definitions} one @param {Definitions} other @returns {Definitions} `one`, with only the aliases and types that `other` has too */
function agreementOf(one, other) {
  const names = [...one.names].filter(([alias, name]) => other.names.get(alias) === name);
  const datatypes = [...one.datatypes].filter(([name, datatype]) => other.datatypes.get(name) === datatype);
  return { ...one, names: new Map(names), datatypes: new Map(datatypes) };
}
