import { identifyDevice } from '../../../schema/ids.js';
import { isBirth, isDeath } from '../../../schema/sparkplug-topics.js';
import { sessionStart } from '../registry/births.js';
import { createSparkplugBirths } from './births.js';
import { DefinitionBook } from './definition-book.js';
import { Rebirths } from './host.js';
import { readMetrics } from './metrics.js';
import {
  createNodeDevices,
  createSparkplugDeaths,
  isMissingSome,
  isOfSequence,
  NOTHING,
  Nodes,
} from './nodes.js';
import { readPayload } from './payload.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { SparkplugTopic } from '../../../schema/sparkplug-topics.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { Message, Send } from '../pipeline.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { EdgeResult, Turn } from './nodes.js' */

/**
 * The host application of Sparkplug B 3.0. It decodes messages of edge nodes, keeps the definitions of their births, and requests a
 * rebirth when a message is missing. The results follow the path of all other messages.
 *
 * @param {object} deps
 * @param {SparkplugStore} deps.store
 * @param {Registry} deps.registry
 * @param {MessageDecoder} deps.decoder
 * @param {Retry} deps.retry
 * @param {Send} deps.send
 * @param {number} deps.historyDays
 * @param {number} deps.maxMessageBytes of a payload without compression
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

  /** @param {Turn} turn @returns {Promise<EdgeResult>} */
  async function data({ message, identity, node, payload, sentAt }) {
    const definitions = await book.at(identity, sentAt);
    const batch = decoder.emptyBatch(message.receivedAt);
    if (!readMetrics(payload, definitions, batch)) node.needsRebirth = true;
    return { birth: null, ended: [], batch };
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
     * @param {Identity} identity of the device, or of the node where it speaks for itself
     * @returns {Promise<EdgeResult>} settles when the definitions of a birth are committed
     * @throws {MillraceError} `malformed`, `too_large`: for the message as a whole
     */
    async read(message, topic, identity) {
      const payload = readPayload(message.payload, maxMessageBytes);
      const nodeIdentity = /** @type {Identity} */ (identifyDevice(topic.node));
      const node = await nodes.of(nodeIdentity);
      const sentAt = sessionStart(payload.timestamp, message.receivedAt);
      const turn = { message, topic, identity, nodeIdentity, node, payload, sentAt };
      const inSequence = isOfSequence(topic);
      if (inSequence && isMissingSome(turn)) node.needsRebirth = true;
      const result = await readers[topic.type](turn);
      if (inSequence && node.needsRebirth) rebirths.request(topic.command);
      return result;
    },

    /**
     * Reads a message again for a replay. It does not change the state of the node or the sequence, and is no sign of a missing message.
     *
     * @param {{ payload: Buffer, receivedAt: number, now: number }} message epoch ms
     * @param {SparkplugTopic} topic
     * @param {Identity} identity
     * @returns {Promise<Pick<EdgeResult, 'birth' | 'batch'>>}
     * @throws {MillraceError} `malformed`, `too_large`: for the message as a whole
     */
    async readAgain({ payload: bytes, receivedAt, now }, { type }, identity) {
      if (isDeath(type)) return NOTHING;
      const payload = readPayload(bytes, maxMessageBytes);
      const sentAt = sessionStart(payload.timestamp, receivedAt);
      const batch = decoder.emptyBatch(receivedAt, now);
      if (isBirth(type)) return births.read({ payload, identity, sentAt }, batch);
      readMetrics(payload, await book.at(identity, sentAt), batch);
      return { birth: null, batch };
    },
  };
}

/** @typedef {ReturnType<typeof createSparkplug>} Sparkplug */
