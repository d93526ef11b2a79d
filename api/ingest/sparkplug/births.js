import { identifySensor, isName } from '../../../schema/ids.js';
import { PATHS } from '../decode/refusals.js';
import { definitionsOf } from './definition-book.js';
import { bdSeqOf, isNumeric, isOfProtocol, nameOf, readMetrics } from './metrics.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { DefinitionBook } from './definition-book.js' */
/** @import { EdgeResult, NodeDevices, Turn } from './nodes.js' */
/** @import { Metric } from './payload.js' */

/**
 * Reads NBIRTH and DBIRTH. Their definitions are committed before any other effect.
 *
 * @param {object} deps
 * @param {SparkplugStore} deps.store
 * @param {MessageDecoder} deps.decoder
 * @param {Retry} deps.retry
 * @param {DefinitionBook} deps.book
 * @param {NodeDevices} deps.devices
 */
export function createSparkplugBirths({ store, decoder, retry, book, devices }) {
  /**
   * @param {Pick<Turn, 'payload' | 'identity' | 'sentAt'>} turn
   * @param {MessageBatch} batch
   */
  async function read({ payload, identity, sentAt }, batch) {
    const definitions = definitionsOf(payload.metrics, sentAt);
    await book.enter(identity, definitions);
    readMetrics(payload, definitions, batch);
    return { birth: readBirthCertificate(payload.metrics, identity, sentAt), batch };
  }

  /** @param {Turn} turn @returns {Promise<EdgeResult>} */
  async function born(turn) {
    const batch = decoder.emptyBatch(turn.message.receivedAt);
    return { ...(await read(turn, batch)), ended: [] };
  }

  return {
    read,

    /** @param {Turn} turn @returns {Promise<EdgeResult>} */
    async node(turn) {
      const { identity, node, payload, sentAt } = turn;
      const bdSeq = bdSeqOf(payload.metrics);
      node.sequence.begin(payload.seq);
      node.needsRebirth = false;
      // A new connection of the node: the earlier births of its devices are no longer valid.
      const ended = node.born && bdSeq !== node.bdSeq ? await devices.bornBefore(turn, sentAt) : [];
      if (!node.born || bdSeq !== node.bdSeq) {
        await retry.run(() => store.writeNode(identity.bytes, bdSeq));
      }
      Object.assign(node, { born: true, bdSeq });
      return { ...(await born(turn)), ended };
    },

    /** @param {Turn} turn @returns {Promise<EdgeResult>} */
    async device(turn) {
      const known = await book.at(turn.identity, turn.sentAt);
      if (!known) await devices.enter(turn);
      return born(turn);
    },
  };
}

/**
 * Converts a birth certificate to a birth. Its sensors are the numeric metrics.
 *
 * @param {Metric[]} metrics
 * @param {Identity} device
 * @param {number} session epoch ms
 * @returns {Birth}
 */
export function readBirthCertificate(metrics, device, session) {
  /** @type {Birth} */
  const birth = {
    session,
    name: device.name ?? undefined,
    sensors: [],
    pathOf: PATHS.sparkplug,
    refused: [],
  };
  const seen = new Set();
  for (const [index, { name, datatype, implied, unit }] of metrics.entries()) {
    const type = datatype || implied;
    if (name === null || isOfProtocol(name) || !isNumeric(type) || seen.has(name)) continue;
    seen.add(name);
    const identity = identifySensor(device.id, name);
    // An invalid name is refused with its value, because a birth has a value for every metric.
    if (!identity) continue;
    birth.sensors.push({
      index,
      identity,
      name: identity.name ?? undefined,
      type: nameOf(type),
      unit: isName(unit) ? unit : undefined,
    });
  }
  return birth;
}
