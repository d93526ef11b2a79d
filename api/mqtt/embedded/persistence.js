import { Readable } from 'node:stream';
import { createRetained } from './retained.js';

/**
 * What the embedded broker keeps beside its connections: the retained statuses, ours as a host among them, nothing else. aedes' own persistence
 * grows with every session that stays away and every message that is half acknowledged.
 *
 * There are no sessions: CONNACK says that none is present, clients subscribe anew, and nothing is queued for who is
 * away. What has to outlast a connection is in the database. Of QoS 2 the ids alone are kept, and for as long as the
 * connection: writes are idempotent. Wills stay with their connection, as aedes keeps them there too.
 */
export function createPersistence() {
  const retained = createRetained();
  /** @type {WeakMap<object, Set<number>>} ids of messages of QoS 2 that wait for their PUBREL, by connection */
  const incoming = new WeakMap();

  return {
    async setup() {},

    /** @param {import('aedes').PublishPacket} packet */
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
