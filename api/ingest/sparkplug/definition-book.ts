import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.ts';
import type { Identity } from '../../../schema/ids.ts';
import { BIRTH_REPEAT_SHARE, DAY_MS } from '../../../schema/rules.ts';
import type { Retry } from '../../store/sending/retry.ts';
import type { SparkplugStore } from '../../store/sparkplug.ts';
import type { Metric } from './payload.ts';

/** Limit of all metric definitions in memory, at about 250 bytes each. The least recently used birth is evicted. */
const MAX_METRICS = 300_000;

type Key = Pick<Identity, 'id' | 'bytes'>;

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
  /** The newest definitions by the id of the node or device. */
  #newest: LRUCache<string, Definitions> = new LRUCache({
    maxSize: MAX_METRICS,
    sizeCalculation: ({ datatypes }) => 1 + datatypes.size,
  });
  #reads = new SharedCalls((key: Key) => this.#load(key));

  constructor({
    store,
    retry,
    historyDays,
  }: {
    store: SparkplugStore;
    retry: Retry;
    /** time in days for which the database keeps definitions */
    historyDays: number;
  }) {
    this.#store = store;
    this.#retry = retry;
    this.#repeatMs = historyDays * DAY_MS * BIRTH_REPEAT_SHARE;
  }

  /** Returns the definitions of the newest birth from memory only. */
  peek(id: string): Definitions | undefined {
    return this.#newest.get(id);
  }

  /** Finds the definitions of the birth that arrived last. @returns null: no valid birth is known */
  async newest(key: Key): Promise<Definitions | null> {
    return this.#newest.get(key.id) ?? this.#reads.call(key);
  }

  /**
   * Finds the definitions that certainly apply to a message that arrived at `receivedAt`. Between the birth before the
   * message and the message, another birth may have changed the aliases without reaching Millrace. So the birth before
   * the message and all later births must be equal in every metric. A node that assigns its aliases again does not
   * return to an earlier assignment, but equal single aliases prove nothing. The message may also be a redelivery that
   * is older than the birth before it. So only aliases with the same meaning in the two births before the message are
   * used.
   * @param receivedAt epoch ms
   * @returns null: no definitions are certain
   */
  async certainAt(key: Key, receivedAt: number): Promise<Definitions | null> {
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
   * @param definitions definitions of a birth
   * @returns settles when the definitions are committed
   */
  async write(key: Key, definitions: Definitions): Promise<Definitions> {
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
   * @param at epoch ms; default: no limit
   * @returns those of the newest birth at or before `at`; null: no such birth is stored
   */
  async #read({ bytes }: Key, at?: number): Promise<Definitions | null> {
    const row = await this.#retry.run(() => this.#store.birthAt(bytes, at));
    return row && readDefinitions(row.metrics, row.bornAt);
  }

  /** Reads the newest definitions from the database, and keeps them in memory. */
  async #load(key: Key): Promise<Definitions | null> {
    const found = await this.#read(key);
    if (found && !this.#newest.has(key.id)) this.#newest.set(key.id, found);
    return this.#newest.get(key.id) ?? null;
  }
}

/** The metric definitions of a birth. Later messages refer to metrics by name or alias. */
export interface Definitions {
  /** start of their validity, in epoch ms */
  bornAt: number;
  /** the stored form in JSON: `[[name, alias or null, datatype], ...]` */
  text: string;
  /** names of metrics by alias */
  names: Map<number | string, string>;
  /** data types of metrics by name */
  datatypes: Map<string, number>;
  /** aliases that had another meaning in an earlier birth */
  contested: Set<number | string>;
  /** names of metrics in earlier births, by aliases that are not in use now */
  retired: Map<number | string, string>;
}

/**
 * @param metrics metrics of a birth, each with name, alias and data type
 * (tck-id-payloads-alias-birth-requirement, tck-id-payloads-metric-datatype-req)
 * @param bornAt epoch ms
 */
export function definitionsOf(metrics: Metric[], bornAt: number): Definitions {
  const named = metrics.filter(({ name }) => name !== null);
  return readDefinitions(
    JSON.stringify(named.map(({ name, alias, datatype, implied }) => [name, alias, datatype || implied])),
    bornAt,
  );
}

/** @param bornAt epoch ms */
export function readDefinitions(text: string, bornAt: number): Definitions {
  const entries: Array<[name: string, alias: number | string | null, datatype: number]> = JSON.parse(text);
  const definitions: Definitions = {
    bornAt,
    text,
    names: new Map(),
    datatypes: new Map(),
    contested: new Set(),
    retired: new Map(),
  };
  /** Aliases that this birth gives to several names. */
  const doubled: Set<number | string> = new Set();
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

/** Returns aliases of earlier births. @param before definitions of the previous birth */
function historyOf(definitions: Definitions, before: Definitions) {
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

/** @returns `one`, with only the aliases and types that `other` has too */
function agreementOf(one: Definitions, other: Definitions): Definitions {
  const names = [...one.names].filter(([alias, name]) => other.names.get(alias) === name);
  const datatypes = [...one.datatypes].filter(([name, datatype]) => other.datatypes.get(name) === datatype);
  return { ...one, names: new Map(names), datatypes: new Map(datatypes) };
}
