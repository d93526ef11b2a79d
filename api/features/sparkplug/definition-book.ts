import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.ts';
import type { Identity } from '../../../schema/ids.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import type { Retry } from '../../store/sending/retry.ts';
import type { Metric } from './payload.ts';
import type { SparkplugStore } from './store.ts';

/**
 * The metric definitions of a birth have the retention of history. A birth writes them again only after this fraction of the
 * retention. So a node with rare births stays known, and a node with a birth every minute does not fill its partition.
 */
const BIRTH_REPEAT_SHARE = 1 / 4;

/** A metric takes about 250 bytes. */
const MAX_METRICS = 300_000;

type Key = Pick<Identity, 'id' | 'bytes'>;

/** Limits for one node or device. With more births, a replay uses no alias. With more aliases, the oldest are dropped. */
const MAX_LATER_BIRTHS = 50;
const MAX_RETIRED = 10_000;

/** The newest birth decodes data of the present session. The birth that arrived before a dead letter decodes this dead letter. */
export class DefinitionBook {
  #store;
  #retry;
  #repeatMs;
  /** by the id of the node or device */
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
    /** the database keeps definitions for this time */
    historyDays: number;
  }) {
    this.#store = store;
    this.#retry = retry;
    this.#repeatMs = historyDays * DAY_MS * BIRTH_REPEAT_SHARE;
  }

  peek(id: string): Definitions | undefined {
    return this.#newest.get(id);
  }

  /** The birth is the one that arrived last. Returns null if no valid birth is known. */
  async newest(key: Key): Promise<Definitions | null> {
    return this.#newest.get(key.id) ?? this.#reads.call(key);
  }

  /**
   * Between the birth before a message and the message, another birth may have changed the aliases without reaching
   * Millrace. So this birth and all later births must be equal in every metric. A node that assigns its aliases again
   * does not return to an earlier assignment, but equal single aliases prove nothing. The message may also be a
   * redelivery that is older than the birth before it. So only aliases with the same meaning in the two births before the
   * message are used. null: no definitions are certain.
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
   * Unchanged definitions are written again only before the database expires them, because a node with a birth every
   * minute would fill its partition.
   */
  async write(key: Key, definitions: Definitions): Promise<Definitions> {
    const before = await this.newest(key);
    if (before?.text === definitions.text && definitions.bornAt - before.bornAt < this.#repeatMs)
      return before;
    // Two births may arrive in one ms, or the clock of Millrace may be set back. The birth that arrived last gets the later time.
    const bornAt = Math.max(definitions.bornAt, (before?.bornAt ?? 0) + 1);
    const written = { ...definitions, bornAt, ...(before ? historyOf(definitions, before) : {}) };
    await this.#retry.run(() => this.#store.writeBirth(key.bytes, bornAt, definitions.text));
    this.#newest.set(key.id, written);
    return written;
  }

  /** The birth is the newest at or before `at`. Returns null if no such birth is stored. */
  async #read({ bytes }: Key, at?: number): Promise<Definitions | null> {
    const row = await this.#retry.run(() => this.#store.birthAt(bytes, at));
    return row && readDefinitions(row.metrics, row.bornAt);
  }

  async #load(key: Key): Promise<Definitions | null> {
    const found = await this.#read(key);
    if (found && !this.#newest.has(key.id)) this.#newest.set(key.id, found);
    return this.#newest.get(key.id) ?? null;
  }
}

/** Later messages refer to metrics by name or alias. */
export interface Definitions {
  /** start of their validity, epoch ms */
  bornAt: number;
  /** JSON: `[[name, alias or null, datatype], ...]` */
  text: string;
  /** names of metrics by alias */
  names: Map<number | string, string>;
  /** data types by name of the metric */
  datatypes: Map<string, number>;
  /** aliases that had another meaning in an earlier birth */
  contested: Set<number | string>;
  /** names in earlier births, by aliases that are not in use now */
  retired: Map<number | string, string>;
}

/** Metrics of a birth have name, alias and data type (tck-id-payloads-alias-birth-requirement, tck-id-payloads-metric-datatype-req). */
export function definitionsOf(metrics: Metric[], bornAt: number): Definitions {
  const named = metrics.filter(({ name }) => name !== null);
  return readDefinitions(
    JSON.stringify(named.map(({ name, alias, datatype, implied }) => [name, alias, datatype || implied])),
    bornAt,
  );
}

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
  const doubled: Set<number | string> = new Set();
  for (const [name, alias, datatype] of entries) {
    if (alias !== null && (definitions.names.get(alias) ?? name) !== name) doubled.add(alias);
    if (alias !== null) definitions.names.set(alias, name);
    definitions.datatypes.set(name, datatype);
  }
  // An alias is unique in a birth (tck-id-payloads-alias-uniqueness). So a repeated alias cannot be resolved, and is removed.
  for (const alias of doubled) definitions.names.delete(alias);
  return definitions;
}

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

/** Only the aliases and types that both have. */
function agreementOf(one: Definitions, other: Definitions): Definitions {
  const names = [...one.names].filter(([alias, name]) => other.names.get(alias) === name);
  const datatypes = [...one.datatypes].filter(([name, datatype]) => other.datatypes.get(name) === datatype);
  return { ...one, names: new Map(names), datatypes: new Map(datatypes) };
}
