import { LRUCache } from 'lru-cache';
import protobuf from 'protobufjs/minimal.js';
import { stateTopic } from '../../../schema/sparkplug-topics.js';

/** @import { Send } from '../pipeline.js' */

/**
 * What a host application tells edge nodes of itself: whether it is online, retained, with QoS 1. A node that has it as
 * its primary host keeps its data while the host is not (tck-id-operational-behavior-primary-application-state-with-multiple-servers-walk).
 *
 * @param {object} deps
 * @param {string} deps.id unique in the installation (tck-id-operational-behavior-host-application-host-id)
 * @param {() => number} deps.clock epoch ms
 */
export function createHost({ id, clock }) {
  const topic = stateTopic(id);
  let connectedAt = clock();

  /** @param {boolean} online @param {number} timestamp epoch ms */
  const message = (online, timestamp) => ({
    topic,
    payload: Buffer.from(JSON.stringify({ online, timestamp })),
    qos: /** @type {const} */ (1),
    retain: true,
  });

  return {
    topic,

    /** The last will of a connection that is about to be made (tck-id-host-topic-phid-death-payload-timestamp-connect). */
    will() {
      connectedAt = clock();
      return message(false, connectedAt);
    },

    /** Its timestamp is the last will's (tck-id-host-topic-phid-birth-payload-timestamp). */
    birth: () => message(true, connectedAt),

    /** Goes before an orderly end (tck-id-operational-behavior-host-application-termination). */
    death: () => message(false, clock()),

    /**
     * @param {Buffer} payload of a state that came under this host's name
     * @returns {boolean} whether it says that we are offline, which is not so: a will that came late, or another host
     */
    isDenied(payload) {
      try {
        return JSON.parse(payload.toString('utf8')).online === false;
      } catch {
        return false;
      }
    },
  };
}

/** @typedef {ReturnType<typeof createHost>} Host */

/** An edge node is asked at most once in this time, in ms: a birth of thousands of metrics takes a while. */
const EVERY_MS = 10_000;

/** Nodes for which the time of the last request is kept. */
const MOST_NODES = 100_000;

/**
 * Asks edge nodes to be born anew (tck-id-operational-behavior-data-commands-ncmd-rebirth-verb).
 *
 * @param {object} deps
 * @param {Send} deps.send
 * @param {() => number} deps.clock epoch ms
 * @param {() => void} deps.onRequest
 */
export function createRebirths({ send, clock, onRequest }) {
  /** @type {LRUCache<string, number>} when each was asked, in epoch ms, by its topic of commands */
  const asked = new LRUCache({ max: MOST_NODES });

  return {
    /** @param {string} topic on which the node takes commands */
    request(topic) {
      const now = clock();
      // A clock that was set back must not silence us until it has caught up.
      if (Math.abs(now - (asked.get(topic) ?? Number.NEGATIVE_INFINITY)) < EVERY_MS) return;
      asked.set(topic, now);
      onRequest();
      send(topic, encodeRebirth(now));
    },
  };
}

/** @typedef {ReturnType<typeof createRebirths>} Rebirths */

const { Writer } = protobuf;

/** Index of the data type Boolean. */
const BOOLEAN = 11;

/**
 * The command to be born anew: one metric with the value true, a timestamp, and no sequence number
 * (tck-id-operational-behavior-data-commands-ncmd-rebirth-name, tck-id-payloads-ncmd-timestamp, tck-id-payloads-ncmd-seq).
 *
 * @param {number} now epoch ms
 * @returns {Buffer}
 */
export function encodeRebirth(now) {
  const writer = Writer.create();
  writer.uint32(1 << 3).uint64(now);
  writer.uint32((2 << 3) | 2).fork();
  writer.uint32((1 << 3) | 2).string('Node Control/Rebirth');
  writer.uint32(3 << 3).uint64(now);
  writer.uint32(4 << 3).uint32(BOOLEAN);
  writer.uint32(14 << 3).bool(true);
  writer.ldelim();
  return Buffer.from(writer.finish());
}
