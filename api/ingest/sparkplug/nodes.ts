import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.ts';
import { MillraceError } from '../../../common/errors.ts';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import type { SparkplugTopic } from '../../../schema/sparkplug-topics.ts';
import type { Retry } from '../../store/sending/retry.ts';
import type { SparkplugStore } from '../../store/sparkplug.ts';
import type { MessageBatch } from '../decode/message-batch.ts';
import type { Message } from '../pipeline.ts';
import type { Birth } from '../registry/birth-message.ts';
import type { Device } from '../registry/cache.ts';
import type { Registry } from '../registry/index.ts';
import { bdSeqOf } from './metrics.ts';
import type { Payload } from './payload.ts';

/** Limit of edge nodes in memory, at about 300 bytes each. The least recently used node is evicted. */
const MAX_NODES = 50_000;

/** The session of an edge node, as far as this process received its messages. */
export class Node {
  /**
   * `bdSeq` of the newest NBIRTH, which distinguishes its NDEATH from an older NDEATH; null: the NBIRTH had no `bdSeq`.
   */
  bdSeq: number | null;
  /** Whether an NBIRTH ever arrived. */
  born;
  /**
   * Ids of the node and the devices whose births arrived in this session. Only aliases of these births are used.
   */
  present: Set<string> = new Set();
  /**
   * Number of births and deaths. A reader of definitions compares this number before and after its read, to
   * detect a birth in between.
   */
  changes = 0;
  /** Whether a message was missed, or could not be decoded. */
  needsRebirth = false;
  sequence = new Sequence();

  /** @param row null: no NBIRTH ever arrived */
  constructor(row: { bdSeq: number | null } | null) {
    this.bdSeq = row?.bdSeq ?? null;
    this.born = row !== null;
  }

  /** Invalidates the aliases of the node or of one device. @param id id of the node or device */
  forgetBirth(id: string) {
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
  /** Nodes by id. */
  #nodes: LRUCache<string, Node> = new LRUCache({ max: MAX_NODES });
  #reads = new SharedCalls((identity: Identity) => this.#load(identity));

  constructor({
    store,
    retry,
  }: {
    store: SparkplugStore;
    retry: Retry;
  }) {
    this.#store = store;
    this.#retry = retry;
  }

  /** Returns an edge node from memory or from the database. @param identity of the node */
  async of(identity: Identity): Promise<Node> {
    return this.#nodes.get(identity.id) ?? this.#reads.call(identity);
  }

  async #load({ id, bytes }: Identity): Promise<Node> {
    const row = await this.#retry.run(() => this.#store.node(bytes));
    const node = new Node(row);
    this.#nodes.set(id, node);
    return node;
  }

  /** Returns an edge node from memory only. */
  peek(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  /** Invalidates all aliases after the connection to the broker broke, because births may have been missed. */
  forgetBirths() {
    for (const node of this.#nodes.values()) node.forgetBirths();
  }
}

/**
 * Creates the functions that handle NDEATH and DDEATH. A death that ends nothing is refused, so it leaves a dead letter.
 */
export function createSparkplugDeaths({ registry, devices }: { registry: Registry; devices: NodeDevices }) {
  return {
    /**
     * Handles the death of a node, which includes its devices
     * (tck-id-operational-behavior-edge-node-termination-host-action-ndeath-devices-offline). The node wrote the
     * payload of the death when it connected, so only `bdSeq` identifies the birth that ends. If the death or the
     * birth has no number, nothing speaks against the present session.
     * @throws {MillraceError} `other_session`, `unknown_device`
     */
    async node(edgeMessage: EdgeMessage): Promise<EdgeResult> {
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

    /** @throws {MillraceError} `unknown_device` */
    async device({ identity, node }: EdgeMessage): Promise<EdgeResult> {
      node.forgetBirth(identity.id);
      const device = await registry.find(identity);
      if (!device) throw new MillraceError('unknown_device');
      return { ...NO_EFFECT, ended: [device] };
    },
  };
}

/**
 * Creates the store of the devices of each edge node. The devices become offline when the connection of their node ends.
 */
export function createNodeDevices({
  store,
  registry,
  retry,
}: {
  store: SparkplugStore;
  registry: Registry;
  retry: Retry;
}) {
  return {
    /** Stores the device of a message. @returns settles when the device is committed */
    add: ({ topic, nodeIdentity }: EdgeMessage): Promise<unknown> =>
      retry.run(() => store.writeDevice(nodeIdentity.bytes, topic.device as string)),

    /** @returns all registered devices of the node */
    async all({ topic, nodeIdentity }: EdgeMessage): Promise<Device[]> {
      const found: Device[] = [];
      for (const name of await retry.run(() => store.devices(nodeIdentity.bytes))) {
        const identity = identifyDevice(`${topic.node}/${name}`);
        const device = identity && (await registry.find(identity));
        if (device) found.push(device);
      }
      return found;
    },
  };
}

export type NodeDevices = ReturnType<typeof createNodeDevices>;

/** Sequence numbers run from 0 to 255 and then start at 0 again (tck-id-payloads-sequence-num-incrementing). */
const NUMBERS = 256;

/**
 * Checks the sequence numbers of one edge node. Births, data and deaths of its devices share one sequence, in the order
 * of publishing. A broker keeps that order for a connection, so the host does not reorder messages. If the next message
 * does not have the next number, messages were lost (tck-id-operational-behavior-host-reordering-start with a timeout
 * of 0).
 */
export class Sequence {
  /** null: no number is known yet, so any number may come next */
  #next: number | null = null;

  /**
   * Restarts the sequence.
   * @param seq number of an NBIRTH; 0 by the specification (tck-id-payloads-sequence-num-zero-nbirth)
   */
  begin(seq: number | null) {
    this.#next = ((seq ?? 0) + 1) % NUMBERS;
  }

  /**
   * Checks and counts the number of a message.
   * @param seq number of a message that is no NBIRTH; null: the message has no number
   * @param dup whether the broker has sent this message before. Then its number may already be counted
   * @returns false: an earlier message is missing
   */
  follows(seq: number | null, dup: boolean): boolean {
    if (seq === null || (dup && seq !== this.#next)) return true;
    const inOrder = this.#next === null || seq === this.#next;
    this.#next = (seq + 1) % NUMBERS;
    return inOrder;
  }
}

/** A message of an edge node. */
export interface EdgeMessage {
  message: Message;
  topic: SparkplugTopic;
  /** identity of the device, or of the node if the message is about the node itself */
  identity: Identity;
  nodeIdentity: Identity;
  node: Node;
  payload: Payload;
}

/** The content of a message of an edge node, in the same types as for messages of other devices. */
export interface EdgeResult {
  /** birth of a device or node, which is online afterwards */
  birth: Birth | null;
  /** whether the birth contradicts later messages. Then it does not change the state of the device */
  isContradictory: boolean;
  /** whether the node has connected again, so earlier messages belong to another session */
  isNewSession: boolean;
  /** devices that became offline */
  ended: Device[];
  batch: MessageBatch | null;
  /** whether the message may use aliases of a birth that has not arrived */
  isUncertain: boolean;
}

export const NO_EFFECT: Readonly<EdgeResult> = {
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
 * @returns whether the message belongs to the sequence that a birth has begun
 */
export const hasSequenceNumber = ({ type }: SparkplugTopic): boolean =>
  type !== 'NBIRTH' && type !== 'NDEATH';

/**
 * Checks and counts the sequence number of a message.
 * @returns whether an earlier message is missing, or the birth of the node in this session has not arrived
 */
export function isAnyMissing({ message, node, nodeIdentity, payload }: EdgeMessage): boolean {
  const inOrder = node.sequence.follows(payload.seq, message.dup === true);
  return !inOrder || !node.present.has(nodeIdentity.id);
}
