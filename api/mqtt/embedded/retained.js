import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { STATES } from '../../../schema/sparkplug-topics.js';
import { OWN_TOPICS } from '../../../schema/topics.js';

/** @import { PublishPacket } from 'aedes' */

/** Retained statuses, of up to 1 KiB each. A further one replaces the oldest. */
const MAX_STATUSES = 100_000;

/** Messages that are compared with filters in one turn of the event loop. */
const COMPARED_AT_ONCE = 1000;

/** A topic of one device. Only its status is retained. */
const OF_ONE_DEVICE = new RegExp(`^${OWN_TOPICS}[^/]+/`);

const WILDCARD = /[+#]/;

/** @typedef {{ cmd: 'publish', topic: string, payload: Buffer, qos: 0 | 1 | 2, retain: true }} Retained */

/**
 * The retained messages: the last status of each device, and the state of this process as a Sparkplug host.
 *
 * A filter is only compared with messages that it may match. Devices subscribe to their own topics. Without this rule a fleet that
 * reconnects would compare every status with the filters of every device.
 */
export function createRetained() {
  /** By topic, the oldest first. @type {Map<string, Retained>} */
  const statuses = new Map();
  /** By topic. @type {Map<string, Retained>} */
  const states = new Map();

  /** @param {string} filter @returns {Iterable<Retained>} all messages that it matches, and possibly others */
  function* candidates(filter) {
    const wildcard = filter.search(WILDCARD);
    const known = wildcard < 0 ? filter : filter.slice(0, wildcard);
    const [device] = OF_ONE_DEVICE.exec(known) ?? [];
    const topic = wildcard < 0 ? filter : device && `${device}status`;
    if (topic !== undefined) {
      const message = statuses.get(topic) ?? states.get(topic);
      if (message) yield message;
      return;
    }
    if (meets(known, STATES)) yield* states.values();
    if (meets(known, OWN_TOPICS)) yield* statuses.values();
  }

  return {
    /** @param {PublishPacket} packet an empty payload removes the retained message */
    store({ topic, payload, qos }) {
      const kept = topic.startsWith(STATES) ? states : statuses;
      kept.delete(topic);
      if (payload.length === 0) return;
      // A copy, because the payload is a view of a chunk that may be 64 times as large.
      kept.set(topic, { cmd: 'publish', topic, payload: Buffer.from(payload), qos, retain: true });
      const [oldest] = kept.keys();
      if (kept.size > MAX_STATUSES && oldest !== undefined) kept.delete(oldest);
    },

    /** @param {string[]} filters @returns {AsyncGenerator<Retained>} each message once per matching filter */
    async *matching(filters) {
      let compared = 0;
      for (const filter of filters) {
        const matches = filterOf(filter);
        for (const message of candidates(filter)) {
          if (++compared % COMPARED_AT_ONCE === 0) await nextTurn();
          if (matches(message.topic)) yield message;
        }
      }
    },
  };
}

/** Whether one text is a prefix of the other. @param {string} known @param {string} branch */
const meets = (known, branch) => known.startsWith(branch) || branch.startsWith(known);

/**
 * Compiles a topic filter. MQTT 3.1.1, section 4.7.1: `+` stands for one level, `#` for any number of levels, also none.
 *
 * @param {string} filter a valid filter
 * @returns {(topic: string) => boolean} whether it matches a topic without `$` at its start
 */
export function filterOf(filter) {
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

/** @param {string} filter a valid filter @param {string} topic without `$` at its start */
export const matchesFilter = (filter, topic) => filterOf(filter)(topic);

/**
 * The persistence of the embedded broker. It keeps only retained statuses, with its own status as a Sparkplug host. The persistence of
 * aedes is not used, because it grows with every absent session and every half acknowledged message.
 *
 * There are no sessions: CONNACK reports none, clients subscribe again, and no message is queued for an absent client. Data that must
 * outlive a connection is in the database. For QoS 2 only message ids are kept, for the duration of the connection, because writes are
 * idempotent. aedes keeps each will with its connection.
 */
export function createPersistence() {
  const retained = createRetained();
  /** By connection, the ids of QoS 2 messages that wait for their PUBREL. @type {WeakMap<object, Set<number>>} */
  const incoming = new WeakMap();

  return {
    async setup() {},

    /** @param {PublishPacket} packet */
    async storeRetained(packet) {
      retained.store(packet);
    },
    /** @param {string[]} filters */
    createRetainedStreamCombi: (filters) => Readable.from(retained.matching(filters)),

    async addSubscriptions() {},
    async removeSubscriptions() {},
    async cleanSubscriptions() {},
    async subscriptionsByClient() {
      return [];
    },
    async subscriptionsByTopic() {
      return [];
    },

    async outgoingEnqueue() {},
    async outgoingEnqueueCombi() {},
    async outgoingUpdate() {},
    async outgoingClearMessageId() {},
    outgoingStream: () => Readable.from([]),

    /** @param {object} client @param {{ messageId: number }} packet */
    async incomingStorePacket(client, { messageId }) {
      const ids = incoming.get(client) ?? new Set();
      incoming.set(client, ids.add(messageId));
    },
    /** @param {object} client @param {{ messageId: number }} packet @throws {Error} when the id is unknown, as aedes expects */
    async incomingGetPacket(client, { messageId }) {
      if (!incoming.get(client)?.has(messageId)) throw new Error('no such packet');
      return { messageId };
    },
    /** @param {object} client @param {{ messageId: number }} packet */
    async incomingDelPacket(client, { messageId }) {
      incoming.get(client)?.delete(messageId);
    },
    async cleanIncoming() {},

    async putWill() {},
    async delWill() {},
    streamWill: () => Readable.from([]),
  };
}
