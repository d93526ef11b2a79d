import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { STATES } from '../../../schema/sparkplug-topics.js';
import { OWN_TOPICS } from '../../../schema/topics.js';

/** @import { PublishPacket } from 'aedes' */

/** Statuses of devices, of at most 1 KiB each; beyond this the one that was kept for longest goes. */
const MOST_STATUSES = 100_000;

/** Messages that are held against filters before others have their turn. */
const LOOKED_AT_ONCE = 1000;

/** What is below one device: its status alone is retained. */
const OF_ONE_DEVICE = new RegExp(`^${OWN_TOPICS}[^/]+/`);

const WILDCARD = /[+#]/;

/** @typedef {{ cmd: 'publish', topic: string, payload: Buffer, qos: 0 | 1 | 2, retain: true }} Retained */

/**
 * The retained messages: the last status of each device, and our own state as a host of Sparkplug.
 *
 * A filter is held against those alone that lie where it may match: devices subscribe to what is theirs, and a fleet that comes
 * back would look at every status for every device.
 */
export function createRetained() {
  /** @type {Map<string, Retained>} by topic, the one that was kept for longest first */
  const statuses = new Map();
  /** @type {Map<string, Retained>} by topic */
  const states = new Map();

  /** @param {string} filter @returns {Iterable<Retained>} all that it matches, and others */
  function* near(filter) {
    const wildcard = filter.search(WILDCARD);
    const known = wildcard < 0 ? filter : filter.slice(0, wildcard);
    const [device] = OF_ONE_DEVICE.exec(known) ?? [];
    const only = wildcard < 0 ? filter : device && `${device}status`;
    if (only !== undefined) {
      const message = statuses.get(only) ?? states.get(only);
      if (message) yield message;
      return;
    }
    if (meets(known, STATES)) yield* states.values();
    if (meets(known, OWN_TOPICS)) yield* statuses.values();
  }

  return {
    /** @param {PublishPacket} packet an empty payload takes away what is retained */
    store({ topic, payload, qos }) {
      const kept = topic.startsWith(STATES) ? states : statuses;
      kept.delete(topic);
      if (payload.length === 0) return;
      // A copy: what was read is a piece of a chunk that is up to 64 times as large.
      kept.set(topic, { cmd: 'publish', topic, payload: Buffer.from(payload), qos, retain: true });
      const [longest] = kept.keys();
      if (kept.size > MOST_STATUSES && longest !== undefined) kept.delete(longest);
    },

    /** @param {string[]} filters @returns {AsyncGenerator<Retained>} once for each filter that it matches */
    async *matching(filters) {
      let looked = 0;
      for (const filter of filters) {
        const matches = filterOf(filter);
        for (const message of near(filter)) {
          if (++looked % LOOKED_AT_ONCE === 0) await nextTurn();
          if (matches(message.topic)) yield message;
        }
      }
    },
  };
}

/** Whether what begins with one may begin with the other. @param {string} known @param {string} branch */
const meets = (known, branch) => known.startsWith(branch) || branch.startsWith(known);

/**
 * MQTT 3.1.1, section 4.7.1: `+` stands for one level; `#` for any number of them, also none.
 *
 * @param {string} filter valid
 * @returns {(topic: string) => boolean} whether it matches a topic that does not begin with `$`
 */
export function filterOf(filter) {
  const wanted = filter.split('/');
  return (topic) => {
    const levels = topic.split('/');
    for (const [at, level] of wanted.entries()) {
      if (level === '#') return true;
      if (at >= levels.length || (level !== '+' && level !== levels[at])) return false;
    }
    return wanted.length === levels.length;
  };
}

/** @param {string} filter valid @param {string} topic that does not begin with `$` */
export const matchesFilter = (filter, topic) => filterOf(filter)(topic);

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
