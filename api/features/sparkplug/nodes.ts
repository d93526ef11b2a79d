import { LRUCache } from 'lru-cache';
import { SharedCalls } from '../../../common/concurrency.ts';
import { MillraceError } from '../../../common/errors.ts';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import type { SparkplugTopic } from '../../../schema/sparkplug-topics.ts';
import type { MessageBatch } from '../../ingest/decode/message-batch.ts';
import type { Message } from '../../ingest/pipeline.ts';
import type { Birth } from '../../ingest/registry/birth-message.ts';
import type { Device } from '../../ingest/registry/cache.ts';
import type { Registry } from '../../ingest/registry/index.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { bdSeqOf } from './metrics.ts';
import type { Payload } from './payload.ts';
import type { SparkplugStore } from './store.ts';

/** A node takes about 300 bytes. */
const MAX_NODES = 50_000;

/** State of a node, as far as this process received its messages. */
export class Node {
  /** Distinguishes the NDEATH of the newest NBIRTH from an older one; null: the NBIRTH had no `bdSeq`. */
  bdSeq: number | null;
  /** an NBIRTH ever arrived */
  born;
  /** Node and devices whose births arrived in this session. Only aliases of these births are used. */
  present: Set<string> = new Set();
  /** Number of births and deaths. A reader of definitions compares it before and after its read, to detect a birth in between. */
  changes = 0;
  /** A message was missed, or could not be decoded. */
  needsRebirth = false;
  sequence = new Sequence();

  /** A null row means that no NBIRTH ever arrived. */
  constructor(row: { bdSeq: number | null } | null) {
    this.bdSeq = row?.bdSeq ?? null;
    this.born = row !== null;
  }

  /** `id` of the node or of one device */
  forgetBirth(id: string) {
    this.changes++;
    this.present.delete(id);
  }

  forgetBirths() {
    this.changes++;
    this.present.clear();
  }
}

/**
 * Sessions are only in memory. A process that has just started may have missed a birth, because edge nodes publish
 * births with QoS 0. So it uses no alias of a node before the next birth.
 */
export class Nodes {
  #store;
  #retry;
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

  async of(identity: Identity): Promise<Node> {
    return this.#nodes.get(identity.id) ?? this.#reads.call(identity);
  }

  async #load({ id, bytes }: Identity): Promise<Node> {
    const row = await this.#retry.run(() => this.#store.node(bytes));
    const node = new Node(row);
    this.#nodes.set(id, node);
    return node;
  }

  peek(id: string): Node | undefined {
    return this.#nodes.get(id);
  }

  /** After the connection to the broker broke, births may have been missed. */
  forgetBirths() {
    for (const node of this.#nodes.values()) node.forgetBirths();
  }
}

/** A death that ends nothing is refused, so it leaves a dead letter. */
export function createSparkplugDeaths({ registry, devices }: { registry: Registry; devices: NodeDevices }) {
  return {
    /**
     * Includes the devices of the node
     * (tck-id-operational-behavior-edge-node-termination-host-action-ndeath-devices-offline). The node wrote the payload of
     * the death when it connected, so only `bdSeq` identifies the birth that ends. If the death or the birth has no number,
     * nothing speaks against the present session.
     * @throws `other_session`, `unknown_device`
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

    async device({ identity, node }: EdgeMessage): Promise<EdgeResult> {
      node.forgetBirth(identity.id);
      const device = await registry.find(identity);
      if (!device) throw new MillraceError('unknown_device');
      return { ...NO_EFFECT, ended: [device] };
    },
  };
}

/** The devices become offline when the connection of their node ends. */
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
    add: ({ topic, nodeIdentity }: EdgeMessage): Promise<unknown> =>
      retry.run(() => store.writeDevice(nodeIdentity.bytes, topic.device as string)),

    /** Leaves out devices that are not registered. */
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

/** From 0 to 255, and then from 0 again (tck-id-payloads-sequence-num-incrementing). */
const NUMBERS = 256;

/**
 * Births, data and deaths of an edge node and its devices share one sequence, in the order of publishing. A broker
 * keeps that order for a connection, so the host does not reorder messages: a gap means that messages were lost
 * (tck-id-operational-behavior-host-reordering-start with a timeout of 0).
 */
export class Sequence {
  /** null: no number is known yet, so any number may come next */
  #next: number | null = null;

  /** `seq` of an NBIRTH is 0 by the specification (tck-id-payloads-sequence-num-zero-nbirth). */
  begin(seq: number | null) {
    this.#next = ((seq ?? 0) + 1) % NUMBERS;
  }

  /**
   * Counts the number of a message that is no NBIRTH. With `dup` it may already be counted. Returns false if an earlier
   * message is missing.
   */
  follows(seq: number | null, dup: boolean): boolean {
    if (seq === null || (dup && seq !== this.#next)) return true;
    const inOrder = this.#next === null || seq === this.#next;
    this.#next = (seq + 1) % NUMBERS;
    return inOrder;
  }
}

export interface EdgeMessage {
  message: Message;
  topic: SparkplugTopic;
  /** identity of the device, or of the node if the message is about the node itself */
  identity: Identity;
  nodeIdentity: Identity;
  node: Node;
  payload: Payload;
}

/** Its types are those for messages of other devices. */
export interface EdgeResult {
  /** birth of a device or node, which is online afterwards */
  birth: Birth | null;
  /** The birth contradicts later messages, so it does not change the state of the device. */
  isContradictory: boolean;
  /** The node has connected again, so earlier messages belong to another session. */
  isNewSession: boolean;
  /** devices that became offline */
  ended: Device[];
  batch: MessageBatch | null;
  /** The message may use aliases of a birth that has not arrived. */
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

/** An NDEATH has no sequence number (tck-id-payloads-ndeath-seq), and an NBIRTH restarts the sequence. */
export const hasSequenceNumber = ({ type }: SparkplugTopic): boolean =>
  type !== 'NBIRTH' && type !== 'NDEATH';

/** An earlier message is missing, or the birth of the node in this session has not arrived. */
export function isAnyMissing({ message, node, nodeIdentity, payload }: EdgeMessage): boolean {
  const inOrder = node.sequence.follows(payload.seq, message.dup === true);
  return !inOrder || !node.present.has(nodeIdentity.id);
}
