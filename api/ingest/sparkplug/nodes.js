import { LRUCache } from 'lru-cache';
import { identifyDevice } from '../../../schema/ids.js';
import { shareReads } from '../registry/cache.js';
import { bdSeqOf } from './metrics.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { SparkplugTopic } from '../../../schema/sparkplug-topics.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { Message } from '../pipeline.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { Device } from '../registry/cache.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Payload } from './payload.js' */

/** Edge nodes in memory, at about 300 bytes each. */
const MAX_NODES = 50_000;

/**
 * The session of an edge node.
 *
 * @typedef {object} Node
 * @property {number | null} bdSeq of the newest NBIRTH, which distinguishes its NDEATH from older ones; null: it had none
 * @property {boolean} born whether an NBIRTH ever arrived
 * @property {boolean} needsRebirth a message was missed, or could not be decoded
 * @property {Sequence} sequence
 */

/** The edge nodes. Sequence numbers are only in memory: after a restart of this process any number may come first. */
export class Nodes {
  #store;
  #retry;
  /** @type {LRUCache<string, Node>} by id */
  #nodes = new LRUCache({ max: MAX_NODES });
  #read = shareReads((/** @type {Identity} */ identity) => this.#load(identity));

  /**
   * @param {object} deps
   * @param {SparkplugStore} deps.store
   * @param {Retry} deps.retry
   */
  constructor({ store, retry }) {
    this.#store = store;
    this.#retry = retry;
  }

  /** Returns an edge node from memory, or reads it. @param {Identity} identity of the node @returns {Promise<Node>} */
  async of(identity) {
    return this.#nodes.get(identity.id) ?? this.#read(identity);
  }

  /** @param {Identity} identity @returns {Promise<Node>} */
  async #load({ id, bytes }) {
    const row = await this.#retry.run(() => this.#store.node(bytes));
    const node = {
      bdSeq: row?.bdSeq ?? null,
      born: row !== null,
      needsRebirth: false,
      sequence: new Sequence(),
    };
    this.#nodes.set(id, node);
    return node;
  }
}

/**
 * NDEATH and DDEATH.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {NodeDevices} deps.devices
 */
export function createSparkplugDeaths({ registry, devices }) {
  return {
    /**
     * The death of a node includes its devices (tck-id-operational-behavior-edge-node-termination-host-action-ndeath-devices-offline).
     * The node wrote its payload when it connected, so only `bdSeq` identifies the birth that ends.
     *
     * @param {Turn} turn
     * @returns {Promise<EdgeResult>}
     */
    async node(turn) {
      const { identity, node, payload } = turn;
      if (!node.born || bdSeqOf(payload.metrics) !== node.bdSeq) return NOTHING;
      node.needsRebirth = true;
      const own = await registry.find(identity);
      const others = await devices.bornBefore(turn, Number.POSITIVE_INFINITY);
      return { birth: null, ended: own ? [own, ...others] : others, batch: null };
    },

    /** @param {Turn} turn @returns {Promise<EdgeResult>} */
    async device({ identity, sentAt }) {
      const device = await registry.find(identity);
      // A device with a newer birth is online.
      const ended = device && sentAt >= (device.session ?? 0) ? [device] : [];
      return { birth: null, ended, batch: null };
    },
  };
}

/**
 * The devices of each edge node. They go offline with the connection of their node.
 *
 * @param {object} deps
 * @param {SparkplugStore} deps.store
 * @param {Registry} deps.registry
 * @param {Retry} deps.retry
 */
export function createNodeDevices({ store, registry, retry }) {
  return {
    /** @param {Turn} turn of a device @returns {Promise<unknown>} settles when it is committed */
    enter: ({ topic, nodeIdentity }) =>
      retry.run(() => store.writeDevice(nodeIdentity.bytes, /** @type {string} */ (topic.device))),

    /**
     * @param {Turn} turn
     * @param {number} before epoch ms
     * @returns {Promise<Device[]>} the node's devices whose newest birth is older
     */
    async bornBefore({ topic, nodeIdentity }, before) {
      /** @type {Device[]} */
      const found = [];
      for (const name of await retry.run(() => store.devices(nodeIdentity.bytes))) {
        const identity = identifyDevice(`${topic.node}/${name}`);
        const device = identity && (await registry.find(identity));
        if (device && (device.session ?? 0) < before) found.push(device);
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createNodeDevices>} NodeDevices */

/** Sequence numbers run from 0 to 255 and then start at 0 again (tck-id-payloads-sequence-num-incrementing). */
const NUMBERS = 256;

/**
 * Follows the sequence numbers of one edge node. Births, data and deaths of its devices share one sequence, in the order of publishing.
 * A broker keeps that order for a connection, so there is no reordering: any other number than the next one means that messages were
 * lost (tck-id-operational-behavior-host-reordering-start with a timeout of 0).
 */
export class Sequence {
  /** @type {number | null} null: any number may come next, since none is known yet */
  #next = null;

  /**
   * Starts the sequence again.
   *
   * @param {number | null} seq of an NBIRTH, which restarts the sequence; 0 by the specification (tck-id-payloads-sequence-num-zero-nbirth)
   */
  begin(seq) {
    this.#next = ((seq ?? 0) + 1) % NUMBERS;
  }

  /**
   * Takes the number of a message.
   *
   * @param {number | null} seq of any other message; null: it has none
   * @param {boolean} again whether the broker has sent this message before: its number may have been counted then
   * @returns {boolean} false: something is missing before it
   */
  follows(seq, again) {
    if (seq === null || (again && seq !== this.#next)) return true;
    const inOrder = this.#next === null || seq === this.#next;
    this.#next = (seq + 1) % NUMBERS;
    return inOrder;
  }
}

/**
 * A message of an edge node.
 *
 * @typedef {object} Turn
 * @property {Message} message
 * @property {SparkplugTopic} topic
 * @property {Identity} identity of the device, or of the node where it speaks for itself
 * @property {Identity} nodeIdentity
 * @property {Node} node
 * @property {Payload} payload
 * @property {number} sentAt epoch ms
 */

/**
 * The result of a message of an edge node, in the form of all other messages.
 *
 * @typedef {object} EdgeResult
 * @property {Birth | null} birth whose device is online from then on
 * @property {Device[]} ended devices that are offline now
 * @property {MessageBatch | null} batch
 */

/** @type {Readonly<EdgeResult>} */
export const NOTHING = { birth: null, ended: [], batch: null };

/**
 * An NDEATH has no sequence number (tck-id-payloads-ndeath-seq), and an NBIRTH restarts the sequence.
 *
 * @param {SparkplugTopic} topic
 * @returns {boolean} whether the message is one of the sequence that a birth has begun
 */
export const isOfSequence = ({ type }) => type !== 'NBIRTH' && type !== 'NDEATH';

/**
 * Takes the number of a message of the sequence.
 *
 * @param {Turn} turn
 * @returns {boolean} whether anything is missing before this message, or nothing is known of its node
 */
export function isMissingSome({ message, node, payload }) {
  const inOrder = node.sequence.follows(payload.seq, message.again === true);
  return !inOrder || !node.born;
}
