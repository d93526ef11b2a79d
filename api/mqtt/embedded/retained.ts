import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PublishPacket } from 'aedes';
import { OWN_TOPICS } from '../../../schema/topics.ts';
import { copyBytes } from '../../ingest/admission/index.ts';
import { RetainedSearches } from './retained-searches.ts';

/**
 * Separate limit for statuses of devices (of up to 1 KiB each) and for each first level of the topics on which Millrace retains. Above it
 * the oldest message is dropped.
 */
const MAX_MESSAGES = 100_000;

/** A search lets other work of the event loop run after this many messages. */
const COMPARED_AT_ONCE = 1000;

/** Only the status is retained of the topics of one device. */
const OF_ONE_DEVICE = new RegExp(`^${OWN_TOPICS}[^/]+/`);

const WILDCARD = /[+#]/;

type Retained = {
  cmd: 'publish';
  topic: string;
  payload: Buffer;
  qos: 0 | 1 | 2;
  retain: true;
  properties?: PublishPacket['properties'];
  messageExpiry?: number;
};

export type QoS = 0 | 1 | 2;

export type GrantedFilter = [filter: string, granted: QoS];

/**
 * The last status of each device, and messages of Millrace: live values, and what features retain.
 *
 * Each filter is compared only with messages that it may match. Otherwise the broker would compare every status with
 * the filters of every device when all devices reconnect, because devices subscribe to their own topics.
 */
export class RetainedMessages {
  /** messages by topic, the oldest first */
  #statuses: Map<string, Retained> = new Map();
  /** the same by the first level of the topic */
  #others: Map<string, Map<string, Retained>> = new Map();

  /** An empty payload removes the retained message. */
  store({ topic, payload, qos, ...packet }: PublishPacket) {
    const kept = this.#keptFor(topic) ?? new Map<string, Retained>();
    kept.delete(topic);
    if (payload.length === 0) return;
    if (kept !== this.#statuses) this.#others.set(firstLevel(topic), kept);
    // The payload is copied, because it is a view of a chunk that may be 64 times as large.
    const message = {
      cmd: 'publish' as const,
      topic,
      payload: copyBytes(Buffer.from(payload)),
      qos,
    };
    kept.set(topic, { ...message, retain: true, ...forwarded(packet) });
    const [oldest] = kept.keys();
    if (kept.size > MAX_MESSAGES && oldest !== undefined) kept.delete(oldest);
  }

  /** Returns each message once per matching filter. Its QoS is at most the granted QoS (MQTT-3.8.4-8). */
  async *matching(filters: Iterable<GrantedFilter>, signal?: AbortSignal): AsyncGenerator<Retained> {
    let compared = 0;
    for (const [filter, granted] of filters) {
      const matches = filterOf(filter);
      for (const message of this.#candidates(filter)) {
        if (++compared % COMPARED_AT_ONCE === 0) await nextTurn();
        if (signal?.aborted) return;
        if (matches(message.topic)) yield message.qos > granted ? { ...message, qos: granted } : message;
      }
    }
  }

  /** All messages that the filter matches, and possibly others. */
  *#candidates(filter: string): Iterable<Retained> {
    const wildcard = filter.search(WILDCARD);
    const known = wildcard < 0 ? filter : filter.slice(0, wildcard);
    const [device] = OF_ONE_DEVICE.exec(known) ?? [];
    const topic = wildcard < 0 ? filter : device && `${device}status`;
    if (topic !== undefined) {
      const message = this.#keptFor(topic)?.get(topic);
      if (message) yield message;
      return;
    }
    if (meets(known, OWN_TOPICS)) yield* boundedValues(this.#statuses);
    if (known.startsWith(OWN_TOPICS)) return;
    for (const [level, kept] of this.#others)
      if (known === '' || level === firstLevel(known)) yield* boundedValues(kept);
  }

  #keptFor(topic: string) {
    return topic.startsWith(OWN_TOPICS) ? this.#statuses : this.#others.get(firstLevel(topic));
  }
}

const firstLevel = (topic: string) => topic.split('/', 1)[0] ?? '';

/** A replaced message moves to the end. Without a bound, a search never ends if messages are replaced faster than the client reads. */
function* boundedValues(kept: Map<string, Retained>): Iterable<Retained> {
  let left = kept.size;
  for (const message of kept.values()) {
    if (left-- === 0) return;
    yield message;
  }
}

/** A broker forwards these members unaltered (MQTT 5, 3.3.2.3). */
function forwarded({ properties, messageExpiry }: Pick<Retained, 'properties' | 'messageExpiry'>) {
  if (!properties) return undefined;
  const { correlationData } = properties;
  const own = correlationData ? { ...properties, correlationData: copyBytes(correlationData) } : properties;
  return { properties: own, messageExpiry };
}

const meets = (known: string, branch: string) => known.startsWith(branch) || branch.startsWith(known);

/** Levels by MQTT 3.1.1, section 4.7.1. The filter must be valid, and the topic must not start with `$`. */
export function filterOf(filter: string): (topic: string) => boolean {
  const wanted = filter.split('/');
  return (topic) => {
    const levels = topic.split('/');
    for (const [index, level] of wanted.entries()) {
      if (level === '#') return true;
      if (index >= levels.length || (level !== '+' && level !== levels[index])) return false;
    }
    return wanted.length === levels.length;
  };
}

export const matchesFilter = (filter: string, topic: string) => filterOf(filter)(topic);

/**
 * The persistence of the embedded broker, in memory. The persistence of aedes grows with every session of a
 * disconnected client, and with every half acknowledged message.
 *
 * There are no persistent sessions: clients subscribe again, and no message is queued for a disconnected client. Data
 * that must outlive a connection is in the database. For QoS 2 only message ids are stored, for the duration of the
 * connection, because writes are idempotent.
 *
 * aedes calls these methods. Methods without a body have nothing to store.
 */
export class Persistence {
  #retained = new RetainedMessages();
  #searches: WeakMap<object, RetainedSearches> = new WeakMap();
  #subscriber: RetainedSearches | null = null;
  #granted: Map<string, QoS> = new Map();
  #incoming: WeakMap<object, Set<number>> = new WeakMap();

  async setup() {}

  async storeRetained(packet: PublishPacket) {
    this.#retained.store(packet);
  }

  /**
   * Stores client and filters for the next call of `createRetainedStreamCombi`. aedes emits `subscribe` with them, and in
   * the same iteration of the event loop calls `createRetainedStreamCombi` without them. aedes itself lowers the QoS of a
   * retained message only if the filter is equal to the topic.
   */
  noteSubscriber(client: object, closed: AbortSignal, subscriptions: Array<{ topic: string; qos: QoS }>) {
    const known = this.#searches.get(client);
    this.#subscriber = known ?? new RetainedSearches(this.#retained, closed);
    if (!known) this.#searches.set(client, this.#subscriber);
    this.#granted = new Map(subscriptions.map(({ topic, qos }) => [topic, qos]));
  }

  createRetainedStreamCombi(filters: string[]) {
    const granted = filters.map((filter) => this.#grantedFor(filter));
    return this.#subscriber?.search(granted) ?? Readable.from(this.#retained.matching(granted));
  }

  #grantedFor(filter: string): GrantedFilter {
    return [filter, this.#granted.get(filter) ?? 0];
  }

  async addSubscriptions() {}

  async removeSubscriptions() {}

  async cleanSubscriptions() {}

  async subscriptionsByClient() {
    return [];
  }

  async subscriptionsByTopic() {
    return [];
  }

  async outgoingEnqueue() {}

  async outgoingEnqueueCombi() {}

  async outgoingUpdate() {}

  async outgoingClearMessageId() {}

  outgoingStream() {
    return Readable.from([]);
  }

  async incomingStorePacket(client: object, { messageId }: { messageId: number }) {
    const ids = this.#incoming.get(client) ?? new Set();
    this.#incoming.set(client, ids.add(messageId));
  }

  /** @throws if the id is unknown, as aedes expects */
  async incomingGetPacket(client: object, { messageId }: { messageId: number }) {
    if (!this.#incoming.get(client)?.has(messageId)) throw new Error('no such packet');
    return { messageId };
  }

  halfOpen(client: object) {
    return this.#incoming.get(client)?.size ?? 0;
  }

  async incomingDelPacket(client: object, { messageId }: { messageId: number }) {
    this.#incoming.get(client)?.delete(messageId);
  }

  async cleanIncoming() {}

  async putWill() {}

  async delWill() {}

  streamWill() {
    return Readable.from([]);
  }
}
