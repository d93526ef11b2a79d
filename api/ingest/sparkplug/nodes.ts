import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.js';
import { MillraceError } from '../../../common/errors.js';
import { identifyDevice } from '../../../schema/ids.js';
import { bdSeqOf } from './metrics.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { SparkplugTopic } from '../../../schema/sparkplug-topics.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { Message } from '../pipeline.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { Device } from '../registry/cache.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Payload } from './payload.js' */

/** Limit of edge nodes in memory, at about 300 bytes each. The least recently used node is evicted. */
const MAX_NODES = 50_000;

/** The session of an edge node, as far as this process received its messages. */
export class Node {
  /**
   * `bdSeq` of the newest NBIRTH, which distinguishes its NDEATH from an older NDEATH; null: the NBIRTH had no `bdSeq`.
   *
   * @type {number | null}
   */
  bdSeq;
  /** Whether an NBIRTH ever arrived. */
  born;
  /**
   * Ids of the node and the devices whose births arrived in this session. Only aliases of these births are used.
   *
   * @type {Set<string>}
   */
  present = new Set();
  /**
   * Number of births and deaths. A reader of definitions compares this number before and after its read, to
   * detect a birth in between.
   */
  changes = 0;
  /** Whether a message was missed, or could not be decoded. */
  needsRebirth = false;
  sequence = new Sequence();

  /** @param {{ bdSeq: number | null } | null} row null: no NBIRTH ever arrived */
  constructor(row) {
    this.bdSeq = row?.bdSeq ?? null;
    this.born = row !== null;
  }

  /** Invalidates the aliases of the node or of one device. @param {string} id id of the node or device */
  forgetBirth(id) {
    this.changes++;
    this.present.delete(id);
  }

  /** Invalidates all aliases of the node and its devices. */
  forgetBirths() {
    this.changes++;
    this.present.clear();
  }
}

/**
 * The edge nodes. Their sessions are only in memory. A process that has just started may have missed a birth, because
 * edge nodes publish births with QoS 0. So a process uses no alias of a node before the next birth.
 */
export class Nodes {
  #store;
  #retry;
  /** Nodes by id. @type {LRUCache<string, Node>} */
  #nodes = new LRUCache({ max: MAX_NODES });
  #reads = new SharedCalls((/** @type {Identity} */ identity) => this.#load(identity));

  /**
   * @param {object} deps
   * @param {SparkplugStore} deps.store
   * @param {Retry} deps.retry
   */
  constructor({ store, retry }) {
    this.#store = store;
    this.#retry = retry;
  }

  /** Returns an edge node from memory or from the database. @param {Identity} identity of the node @returns {Promise<Node>} */
  async of(identity) {
    return this.#nodes.get(identity.id) ?? this.#reads.call(identity);
  }

  /** @param {Identity} identity @returns {Promise<Node>} */
  async #load({ id, bytes }) {
    const row = await this.#retry.run(() => this.#store.node(bytes));
    const node = new Node(row);
    this.#nodes.set(id, node);
    return node;
  }

  /** Returns an edge node from memory only. @param {string} id @returns {Node | undefined} */
  peek(id) {
    return this.#nodes.get(id);
  }

  /** Invalidates all aliases after the connection to the broker broke, because births may have been missed. */
  forgetBirths() {
    for (const node of this.#nodes.values()) node.forgetBirths();
  }
}

/**
 * Creates the functions that handle NDEATH and DDEATH. A death that ends nothing is refused, so it leaves a dead letter.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {NodeDevices} deps.devices
 */
export function createSparkplugDeaths({ registry, devices }) {
  return {
    /**
     * Handles the death of a node, which includes its devices
     * (tck-id-operational-behavior-edge-node-termination-host-action-ndeath-devices-offline). The node wrote
     * the payload of the death when it connected, so only `bdSeq` identifies the birth that ends. If the death or the
     * birth has no number, nothing speaks against the present session.
     *
     * @param {EdgeMessage} edgeMessage
     * @returns {Promise<EdgeResult>}
     * @throws {MillraceError} `other_session`, `unknown_device`
     */
    async node(edgeMessage) {
      const { identity, node, payload } = edgeMessage;
      const bdSeq = bdSeqOf(payload.metrics);
      if (bdSeq !== null && node.bdSeq !== null && bdSeq !== node.bdSeq)
        throw new MillraceError('other_session', `bdSeq is ${bdSeq}, and ${node.bdSeq} in the last NBIRTH`);
      const own = await registry.find(identity);
      const others = await devices.all(edgeMessage);
      const ended = own ? [own, ...others] : others;
      if (ended.length === 0) throw new MillraceError('unknown_device');
      node.forgetBirths();
      node.needsRebirth = true;
      return { ...NO_EFFECT, isNewSession: true, ended };
    },

    /** @param {EdgeMessage} edgeMessage @returns {Promise<EdgeResult>} @throws {MillraceError} `unknown_device` */
    async device({ identity, node }) {
      node.forgetBirth(identity.id);
      const device = await registry.find(identity);
      if (!device) throw new MillraceError('unknown_device');
      return { ...NO_EFFECT, ended: [device] };
    },
  };
}

/**
 * Creates the store of the devices of each edge node. The devices become offline when the connection of their node ends.
 *
 * @param {object} deps
 * @param {SparkplugStore} deps.store
 * @param {Registry} deps.registry
 * @param {Retry} deps.retry
 */
export function createNodeDevices({ store, registry, retry }) {
  return {
    /** Stores the device of a message. @param {EdgeMessage} edgeMessage @returns {Promise<unknown>} settles when the device is committed */
    add: ({ topic, nodeIdentity }) =>
      retry.run(() => store.writeDevice(nodeIdentity.bytes, /** @type {string} */ (topic.device))),

    /** @param {EdgeMessage} edgeMessage @returns {Promise<Device[]>} all registered devices of the node */
    async all({ topic, nodeIdentity }) {
      /** @type {Device[]} */
      const found = [];
      for (const name of await retry.run(() => store.devices(nodeIdentity.bytes))) {
        const identity = identifyDevice(`${topic.node}/${name}`);
        const device = identity && (await registry.find(identity));
        if (device) found.push(device);
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createNodeDevices>} NodeDevices */

/** Sequence numbers run from 0 to 255 and then start at 0 again (tck-id-payloads-sequence-num-incrementing). */
const NUMBERS = 256;

/**
 * Checks the sequence numbers of one edge node. Births, data and deaths of its devices share one sequence, in the order
 * of publishing. A broker keeps that order for a connection, so the host does not reorder messages. If the next message
 * does not have the next number, messages were lost (tck-id-operational-behavior-host-reordering-start with a timeout
 * of 0).
 */
export class Sequence {
  /** @type {number | null} null: no number is known yet, so any number may come next */
  #next = null;

  /**
   * Restarts the sequence.
   *
   * @param {number | null} seq number of an NBIRTH; 0 by the specification (tck-id-payloads-sequence-num-zero-nbirth)
   */
  begin(seq) {
    this.#next = ((seq ?? 0) + 1) % NUMBERS;
  }

  /**
   * Checks and counts the number of a message.
   *
   * @param {number | null} seq number of a message that is no NBIRTH; null: the message has no number
   * @param {boolean} dup whether the broker has sent this message before. Then its number may already be counted
   * @returns {boolean} false: an earlier message is missing
   */
  follows(seq, dup) {
    if (seq === null || (dup && seq !== this.#next)) return true;
    const inOrder = this.#next === null || seq === this.#next;
    this.#next = (seq + 1) % NUMBERS;
    return inOrder;
  }
}

/**
 * A message of an edge node.
 *
 * @typedef {object} EdgeMessage
 * @property {Message} message
 * @property {SparkplugTopic} topic
 * @property {Identity} identity identity of the device, or of the node if the message is about the node itself
 * @property {Identity} nodeIdentity
 * @property {Node} node
 * @property {Payload} payload
 */

/**
 * The content of a message of an edge node, in the same types as for messages of other devices.
 *
 * @typedef {object} EdgeResult
 * @property {Birth | null} birth birth of a device or node, which is online afterwards
 * @property {boolean} isContradictory whether the birth contradicts later messages. Then it does not change the state of
 *   the device
 * @property {boolean} isNewSession whether the node has connected again, so earlier messages belong to
 *   another session
 * @property {Device[]} ended devices that became offline
 * @property {MessageBatch | null} batch
 * @property {boolean} isUncertain whether the message may use aliases of a birth that has not arrived
 */

/** @type {Readonly<EdgeResult>} */
export const NO_EFFECT = {
  birth: null,
  isContradictory: false,
  isNewSession: false,
  ended: [],
  batch: null,
  isUncertain: false,
};

/**
 * Checks whether a message has a number in the sequence. An NDEATH has no sequence number (tck-id-payloads-ndeath-seq),
 * and an NBIRTH restarts the sequence.
 *
 * @param {SparkplugTopic} topic
 * @returns {boolean} whether the message belongs to the sequence that a birth has begun
 */
export const hasSequenceNumber = ({ type }) => type !== 'NBIRTH' && type !== 'NDEATH';

/**
 * Checks and counts the sequence number of a message.
 *
 * @param {EdgeMessage} edgeMessage
 * @returns {boolean} whether an earlier message is missing, or the birth of the node in this session has not arrived
 */
export function isAnyMissing({ message, node, nodeIdentity, payload }) {
  const inOrder = node.sequence.follows(payload.seq, message.dup === true);
  return !inOrder || !node.present.has(nodeIdentity.id);
}
