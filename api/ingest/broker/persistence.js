import { Readable } from 'node:stream';
import { STATES } from '../sparkplug/topic.js';
import { matchesFilter } from './topic-filter.js';

/** Retained messages, of at most 1 KiB each; beyond this the one that was kept for longest goes. */
const MOST_RETAINED = 100_000;

/**
 * What the embedded broker keeps beside its connections: the retained statuses, ours as a host among them, nothing else. aedes' own persistence
 * grows with every session that stays away and every message that is half acknowledged.
 *
 * There are no sessions: CONNACK says that none is present, clients subscribe anew, and nothing is queued for who is
 * away. What has to outlast a connection is in the database. Of QoS 2 the ids alone are kept, and for as long as the
 * connection: writes are idempotent. Wills stay with their connection, as aedes keeps them there too.
 */
export function createPersistence() {
  /** @type {Map<string, { cmd: 'publish', topic: string, payload: Buffer, qos: 0 | 1 | 2, retain: true }>} by topic */
  const retained = new Map();
  /** @type {WeakMap<object, Set<number>>} ids of messages of QoS 2 that wait for their PUBREL, by connection */
  const incoming = new WeakMap();

  /** Our own state as a host of Sparkplug is kept for longest of all, and stays. */
  function oldestStatus() {
    for (const topic of retained.keys()) if (!topic.startsWith(STATES)) return topic;
    return undefined;
  }

  /** @param {string[]} filters */
  function* matching(filters) {
    for (const filter of filters) {
      for (const packet of retained.values()) if (matchesFilter(filter, packet.topic)) yield packet;
    }
  }

  return {
    async setup() {},

    /** @param {import('aedes').PublishPacket} packet an empty payload takes away what is retained */
    async storeRetained({ topic, payload, qos }) {
      retained.delete(topic);
      if (payload.length === 0) return;
      // A copy: what was read is a piece of a chunk that is up to 64 times as large.
      retained.set(topic, { cmd: 'publish', topic, payload: Buffer.from(payload), qos, retain: true });
      if (retained.size > MOST_RETAINED) retained.delete(oldestStatus() ?? topic);
    },
    /** @param {string[]} filters */
    createRetainedStreamCombi: (filters) => Readable.from(matching(filters)),

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
    /** @param {object} client @param {{ messageId: number }} packet @throws {Error} where it is not known: aedes asks so */
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
