import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PublishPacket } from 'aedes';
import { STATES } from '../../../schema/sparkplug-topics.ts';
import { OWN_TOPICS } from '../../../schema/topics.ts';
import { copyBytes } from '../../ingest/admission/index.ts';
import { RetainedSearches } from './retained-searches.ts';

/**
 * Limit of retained statuses of devices (of up to 1 KiB each), and separate limit of messages that Millrace retains.
 * Above a limit the oldest message is dropped.
 */
const MAX_MESSAGES = 100_000;

/** Limit of messages that a search compares with filters before it lets other work of the event loop run. */
const COMPARED_AT_ONCE = 1000;

/** Matches the beginning of a topic of one device. Of these topics only the status is retained. */
const OF_ONE_DEVICE = new RegExp(`^${OWN_TOPICS}[^/]+/`);

const WILDCARD = /[+#]/;

/** `properties` and `messageExpiry` (epoch ms) of MQTT 5 */
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

/** A filter with the QoS that the broker granted. */
export type GrantedFilter = [filter: string, granted: QoS];

/**
 * The retained messages: the last status of each device, the state of this process as a Sparkplug host, and
 * messages of Millrace: live values and discovery topics of Home Assistant.
 *
 * Each filter is compared only with messages that it may match. Otherwise the broker would compare every status with the
 * filters of every device when all devices reconnect, because devices subscribe to their own topics.
 */
export class RetainedMessages {
  /** Statuses of devices by topic, the oldest first. */
  #statuses: Map<string, Retained> = new Map();
  /** States of Sparkplug hosts by topic. */
  #states: Map<string, Retained> = new Map();
  /** All other messages by topic, the oldest first. */
  #others: Map<string, Retained> = new Map();

  /** @param packet an empty payload removes the retained message */
  store({ topic, payload, qos, ...packet }: PublishPacket) {
    const kept = this.#keptFor(topic);
    kept.delete(topic);
    if (payload.length === 0) return;
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

  /**
   * Finds retained messages.
   * @param signal ends the search
   * @returns each message once per matching filter. Its QoS is at most the granted QoS (MQTT-3.8.4-8)
   */
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

  /** @returns all messages that the filter matches, and possibly other messages */
  *#candidates(filter: string): Iterable<Retained> {
    const wildcard = filter.search(WILDCARD);
    const known = wildcard < 0 ? filter : filter.slice(0, wildcard);
    const [device] = OF_ONE_DEVICE.exec(known) ?? [];
    const topic = wildcard < 0 ? filter : device && `${device}status`;
    if (topic !== undefined) {
      const message = this.#keptFor(topic).get(topic);
      if (message) yield message;
      return;
    }
    if (meets(known, STATES)) yield* boundedValues(this.#states);
    if (meets(known, OWN_TOPICS)) yield* boundedValues(this.#statuses);
    if (!known.startsWith(STATES) && !known.startsWith(OWN_TOPICS)) yield* boundedValues(this.#others);
  }

  #keptFor(topic: string) {
    if (topic.startsWith(OWN_TOPICS)) return this.#statuses;
    return topic.startsWith(STATES) ? this.#states : this.#others;
  }
}

/**
 * Yields at most as many messages as the map has at the start. A replaced message moves to the end of the map. So without this limit, a
 * search would never end if messages are replaced faster than the client reads. The search finds all messages that are not replaced during
 * the search. The client gets a replaced message when it is published.
 */
function* boundedValues(kept: Map<string, Retained>): Iterable<Retained> {
  let left = kept.size;
  for (const message of kept.values()) {
    if (left-- === 0) return;
    yield message;
  }
}

/** Returns the members of a message that a broker forwards unaltered (MQTT 5, 3.3.2.3). */
function forwarded({ properties, messageExpiry }: Pick<Retained, 'properties' | 'messageExpiry'>) {
  if (!properties) return undefined;
  const { correlationData } = properties;
  const own = correlationData ? { ...properties, correlationData: copyBytes(correlationData) } : properties;
  return { properties: own, messageExpiry };
}

/** Checks whether one text is a prefix of the other text. */
const meets = (known: string, branch: string) => known.startsWith(branch) || branch.startsWith(known);

/**
 * Compiles a topic filter. MQTT 3.1.1, section 4.7.1: `+` matches one level, `#` any number of levels,
 * including none.
 * @param filter a valid filter
 * @returns returns whether the filter matches a topic that does not start with `$`
 */
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

/** @param filter a valid filter @param topic a topic that does not start with `$` */
export const matchesFilter = (filter: string, topic: string) => filterOf(filter)(topic);

/**
 * The persistence of the embedded broker, in memory. It stores only retained messages, and the ids of QoS 2 messages.
 * The persistence of aedes is not used, because it grows with every session of a disconnected client, and with every
 * half acknowledged message.
 *
 * There are no persistent sessions. CONNACK reports no session, clients subscribe again, and no message is queued for a
 * disconnected client. Data that must outlive a connection is in the database. For QoS 2 only message ids are stored,
 * for the duration of the connection, because writes are idempotent. aedes stores each will with its connection.
 *
 * aedes calls these methods. Methods without a body have nothing to store.
 */
export class Persistence {
  #retained = new RetainedMessages();
  /** Searches by connection. */
  #searches: WeakMap<object, RetainedSearches> = new WeakMap();
  /** Searches of the connection that is subscribing now. */
  #subscriber: RetainedSearches | null = null;
  /** The filters of the current SUBSCRIBE, with the granted QoS. */
  #granted: Map<string, QoS> = new Map();
  /** Ids of QoS 2 messages that wait for their PUBREL, by connection. */
  #incoming: WeakMap<object, Set<number>> = new WeakMap();

  async setup() {}

  /** Stores or removes a retained message. */
  async storeRetained(packet: PublishPacket) {
    this.#retained.store(packet);
  }

  /**
   * Stores the client that subscribes, and its granted filters, for the next call of `createRetainedStreamCombi`. aedes
   * emits `subscribe` with client and filters. In the same iteration of the event loop it calls
   * `createRetainedStreamCombi` without them. aedes itself lowers the QoS of a retained message only if the filter is
   * equal to the topic.
   * @param closed aborts when the connection of the client closes
   * @param subscriptions filters with the granted QoS
   */
  noteSubscriber(client: object, closed: AbortSignal, subscriptions: Array<{ topic: string; qos: QoS }>) {
    const known = this.#searches.get(client);
    this.#subscriber = known ?? new RetainedSearches(this.#retained, closed);
    if (!known) this.#searches.set(client, this.#subscriber);
    this.#granted = new Map(subscriptions.map(({ topic, qos }) => [topic, qos]));
  }

  /** Streams the retained messages that the filters match. @param filters of the client from `noteSubscriber` */
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

  /** Stores the id of a QoS 2 message. */
  async incomingStorePacket(client: object, { messageId }: { messageId: number }) {
    const ids = this.#incoming.get(client) ?? new Set();
    this.#incoming.set(client, ids.add(messageId));
  }

  /** Returns the id of a stored QoS 2 message. @throws {Error} if the id is unknown, as aedes expects */
  async incomingGetPacket(client: object, { messageId }: { messageId: number }) {
    if (!this.#incoming.get(client)?.has(messageId)) throw new Error('no such packet');
    return { messageId };
  }

  /** Returns the number of messages of a client that wait for their PUBREL. */
  halfOpen(client: object) {
    return this.#incoming.get(client)?.size ?? 0;
  }

  /** Removes the id of a QoS 2 message. */
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
