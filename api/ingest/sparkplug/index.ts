import { identifyDevice } from '../../../schema/ids.js';
import { isBirth, isDeath } from '../../../schema/sparkplug-topics.js';
import { createSparkplugBirths } from './births.js';
import { DefinitionBook } from './definition-book.js';
import { Rebirths } from './host.js';
import { readMetrics } from './metrics.js';
import {
  createNodeDevices,
  createSparkplugDeaths,
  hasSequenceNumber,
  isAnyMissing,
  NO_EFFECT,
  Nodes,
} from './nodes.js';
import { readPayload } from './payload.js';

export { Host } from './host.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { SparkplugTopic } from '../../../schema/sparkplug-topics.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { Message, Send } from '../pipeline.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Definitions } from './definition-book.js' */
/** @import { EdgeResult, Node, EdgeMessage } from './nodes.js' */

/**
 * Creates the host application of Sparkplug B 3.0. The host decodes messages of edge nodes, stores the metric definitions of their births,
 * and requests a rebirth when a message is missing. Its results are handled like messages of other devices.
 *
 * @param {object} deps
 * @param {SparkplugStore} deps.store
 * @param {Registry} deps.registry
 * @param {MessageDecoder} deps.decoder
 * @param {Retry} deps.retry
 * @param {Send} deps.send
 * @param {number} deps.historyDays
 * @param {number} deps.maxMessageBytes limit of a payload in bytes, after decompression
 * @param {() => number} deps.clock epoch ms
 * @param {Metrics} deps.metrics
 */
export function createSparkplug(deps) {
  const { store, registry, decoder, retry, send, historyDays, maxMessageBytes, clock, metrics } = deps;
  const book = new DefinitionBook({ store, retry, historyDays });
  const nodes = new Nodes({ store, retry });
  const devices = createNodeDevices({ store, registry, retry });
  const births = createSparkplugBirths({ store, decoder, retry, book, devices });
  const deaths = createSparkplugDeaths({ registry, devices });
  const rebirths = new Rebirths({ send, clock, onRequest: () => metrics.rebirths.inc() });

  /** @param {Node} node @param {Identity} identity @returns {Promise<Definitions | null>} null: no birth of this session has arrived */
  async function validDefinitions(node, { id, bytes }) {
    if (!node.present.has(id)) return null;
    const known = book.peek(id);
    if (known) return known;
    const { changes } = node;
    const read = await book.newest({ id, bytes });
    // A later birth may have arrived during the read. Then these definitions are outdated.
    return node.changes === changes ? read : null;
  }

  /** @param {EdgeMessage} edgeMessage @returns {Promise<EdgeResult>} */
  async function data({ message, identity, node, payload }) {
    const definitions = await validDefinitions(node, identity);
    const batch = decoder.emptyBatch(message.receivedAt);
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

  const readers = {
    NBIRTH: births.node,
    DBIRTH: births.device,
    NDATA: data,
    DDATA: data,
    NDEATH: deaths.node,
    DDEATH: deaths.device,
  };

  return {
    /**
     * @param {Message} message
     * @param {SparkplugTopic} topic
     * @param {Identity} identity identity of the device, or of the node if the message is about the node itself
     * @returns {Promise<EdgeResult & { nodeIdentity: Identity }>} settles when the definitions of a birth are committed
     * @throws {MillraceError} `malformed`, `too_large`: the message as a whole is refused
     */
    async read(message, topic, identity) {
      const payload = readPayload(message.payload, maxMessageBytes);
      const nodeIdentity = /** @type {Identity} */ (identifyDevice(topic.node));
      const node = await nodes.of(nodeIdentity);
      const edgeMessage = { message, topic, identity, nodeIdentity, node, payload };
      if (hasSequenceNumber(topic) && isAnyMissing(edgeMessage)) node.needsRebirth = true;
      const result = await readers[topic.type](edgeMessage);
      if (node.needsRebirth && topic.type !== 'NDEATH') rebirths.request(topic.command);
      return { ...result, nodeIdentity };
    },

    /**
     * Drops the aliases of a node or device whose birth was refused. The new aliases are unknown, and the aliases of the
     * previous birth are no longer valid.
     *
     * @param {SparkplugTopic} topic
     */
    forgetRefusedBirth(topic) {
      const nodeIdentity = identifyDevice(topic.node);
      const node = nodeIdentity && nodes.peek(nodeIdentity.id);
      if (!node) return;
      node.needsRebirth = true;
      const device = topic.device === null ? null : identifyDevice(`${topic.node}/${topic.device}`);
      if (device) node.forgetBirth(device.id);
      else node.forgetBirths();
      rebirths.request(topic.command);
    },

    /**
     * Drops all aliases, because births may have been missed. No alias of a node is used until its next
     * birth.
     */
    forgetBirths: () => nodes.forgetBirths(),

    /**
     * Reads a message again for a replay. The replay does not change the state of the node or the sequence, and does not
     * cause a rebirth request. Aliases are resolved only if the birth before the message and all later births are equal.
     *
     * @param {{ payload: Buffer, receivedAt: number, now: number }} message times in epoch ms
     * @param {SparkplugTopic} topic
     * @param {Identity} identity
     * @returns {Promise<Pick<EdgeResult, 'birth' | 'batch'>>}
     * @throws {MillraceError} `malformed`, `too_large`: the message as a whole is refused
     */
    async readAgain({ payload: bytes, receivedAt, now }, { type, node }, identity) {
      if (isDeath(type)) return NO_EFFECT;
      const payload = readPayload(bytes, maxMessageBytes);
      const batch = decoder.emptyBatch(receivedAt, now);
      if (isBirth(type)) return { birth: births.readAgain({ payload, identity, receivedAt }, batch), batch };
      const nodeIdentity = /** @type {Identity} */ (identifyDevice(node));
      const { present } = await nodes.of(nodeIdentity);
      const device = await registry.find(identity);
      const isBornSince = (device?.sessionStamp ?? 0) > receivedAt * 1000;
      const isKnown = present.has(identity.id) || isBornSince;
      readMetrics(payload, isKnown ? await book.certainAt(identity, receivedAt) : null, batch);
      return { birth: null, batch };
    },
  };
}

/** @typedef {ReturnType<typeof createSparkplug>} Sparkplug */
