import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import { isBirth, isDeath, type SparkplugTopic } from '../../../schema/sparkplug-topics.ts';
import type { MessageDecoder } from '../../ingest/decode/index.ts';
import type { Message } from '../../ingest/pipeline.ts';
import type { Registry } from '../../ingest/registry/index.ts';
import { stampOf } from '../../store/index.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { createSparkplugBirths } from './births.ts';
import { DefinitionBook, type Definitions } from './definition-book.ts';
import type { Rebirths } from './host.ts';
import { readMetrics } from './metrics.ts';
import {
  createNodeDevices,
  createSparkplugDeaths,
  type EdgeMessage,
  type EdgeResult,
  hasSequenceNumber,
  isAnyMissing,
  NO_EFFECT,
  type Node,
  Nodes,
} from './nodes.ts';
import { readPayload } from './payload.ts';
import type { SparkplugStore } from './store.ts';

/**
 * The host application of Sparkplug B 3.0 stores the metric definitions of births, and requests a rebirth when a
 * message is missing. Its results are handled like messages of other devices.
 */
export class Sparkplug {
  #registry;
  #decoder;
  #maxMessageBytes;
  #rebirths;
  #book;
  #nodes;
  #births;
  #readers;

  constructor({
    store,
    registry,
    decoder,
    retry,
    historyDays,
    maxMessageBytes,
    rebirths,
  }: {
    store: SparkplugStore;
    registry: Registry;
    decoder: MessageDecoder;
    retry: Retry;
    historyDays: number;
    /** after decompression */
    maxMessageBytes: number;
    rebirths: Rebirths;
  }) {
    this.#registry = registry;
    this.#decoder = decoder;
    this.#maxMessageBytes = maxMessageBytes;
    this.#rebirths = rebirths;
    this.#book = new DefinitionBook({ store, retry, historyDays });
    this.#nodes = new Nodes({ store, retry });
    const devices = createNodeDevices({ store, registry, retry });
    this.#births = createSparkplugBirths({ store, decoder, retry, book: this.#book, devices });
    const deaths = createSparkplugDeaths({ registry, devices });
    const data = (edgeMessage: EdgeMessage) => this.#data(edgeMessage);
    this.#readers = {
      NBIRTH: this.#births.node,
      DBIRTH: this.#births.device,
      NDATA: data,
      DDATA: data,
      NDEATH: deaths.node,
      DDEATH: deaths.device,
    };
  }

  /** Returns null if no birth of this session has arrived. */
  async #validDefinitions(node: Node, { id, bytes }: Identity): Promise<Definitions | null> {
    if (!node.present.has(id)) return null;
    const known = this.#book.peek(id);
    if (known) return known;
    const { changes } = node;
    const read = await this.#book.newest({ id, bytes });
    // A later birth may have arrived during the read. Then these definitions are outdated.
    return node.changes === changes ? read : null;
  }

  async #data({ message, identity, node, payload }: EdgeMessage): Promise<EdgeResult> {
    const definitions = await this.#validDefinitions(node, identity);
    const batch = this.#decoder.emptyBatch(message.receivedAt);
    // Births with QoS 0 overtake queued data with QoS 1. So a message with the DUP flag, or after a gap in the sequence
    // numbers, may be older than the newest birth.
    const isDoubtful = message.dup || node.needsRebirth;
    if (!readMetrics(payload, definitions, batch, isDoubtful)) node.needsRebirth = true;
    return {
      ...NO_EFFECT,
      batch,
      isUncertain: definitions === null && !message.dup && batch.refused.length > 0,
    };
  }

  /**
   * `identity` of the device, or of the node if the message is about the node itself. Settles when the definitions of a
   * birth are committed.
   * @throws `malformed`, `too_large`: the message as a whole is refused
   */
  async read(
    message: Message,
    topic: SparkplugTopic,
    identity: Identity,
  ): Promise<EdgeResult & { nodeIdentity: Identity }> {
    const payload = readPayload(message.payload, this.#maxMessageBytes);
    const nodeIdentity = identifyDevice(topic.node) as Identity;
    const node = await this.#nodes.of(nodeIdentity);
    const edgeMessage = { message, topic, identity, nodeIdentity, node, payload };
    if (hasSequenceNumber(topic) && isAnyMissing(edgeMessage)) node.needsRebirth = true;
    const result = await this.#readers[topic.type](edgeMessage);
    if (node.needsRebirth && topic.type !== 'NDEATH') this.#rebirths.request(topic.command);
    return { ...result, nodeIdentity };
  }

  /** The new aliases are unknown, and those of the previous birth are no longer valid. */
  forgetRefusedBirth(topic: SparkplugTopic) {
    const nodeIdentity = identifyDevice(topic.node);
    const node = nodeIdentity && this.#nodes.peek(nodeIdentity.id);
    if (!node) return;
    node.needsRebirth = true;
    const device = topic.device === null ? null : identifyDevice(`${topic.node}/${topic.device}`);
    if (device) node.forgetBirth(device.id);
    else node.forgetBirths();
    this.#rebirths.request(topic.command);
  }

  /** Births may have been missed, so no alias of a node is used until its next birth. */
  forgetBirths() {
    this.#nodes.forgetBirths();
  }

  /**
   * Does not change the state of the node or the sequence, and causes no rebirth request. Aliases are resolved only if
   * the birth before the message and all later births are equal.
   * @throws `malformed`, `too_large`: the message as a whole is refused
   */
  async readAgain(
    { payload: bytes, receivedAt, now }: { payload: Buffer; receivedAt: number; now: number },
    { type, node }: SparkplugTopic,
    identity: Identity,
  ): Promise<Pick<EdgeResult, 'birth' | 'batch'>> {
    if (isDeath(type)) return NO_EFFECT;
    const payload = readPayload(bytes, this.#maxMessageBytes);
    const batch = this.#decoder.emptyBatch(receivedAt, now);
    if (isBirth(type))
      return { birth: this.#births.readAgain({ payload, identity, receivedAt }, batch), batch };
    const nodeIdentity = identifyDevice(node) as Identity;
    const { present } = await this.#nodes.of(nodeIdentity);
    const device = await this.#registry.find(identity);
    const isBornSince = (device?.sessionStamp ?? 0) > stampOf(receivedAt);
    const isKnown = present.has(identity.id) || isBornSince;
    readMetrics(payload, isKnown ? await this.#book.certainAt(identity, receivedAt) : null, batch);
    return { birth: null, batch };
  }
}
