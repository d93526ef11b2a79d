import { identifySensor, isName } from '../../../schema/ids.js';
import { PATHS } from '../decode/refusals.js';
import { readSession } from '../registry/sessions.js';
import { definitionsOf } from './definition-book.js';
import { bdSeqOf, isNumeric, isOfProtocol, nameOf, readMetrics } from './metrics.js';
import { NOTHING } from './nodes.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { SparkplugStore } from '../../store/sparkplug.js' */
/** @import { MessageDecoder } from '../decode/index.js' */
/** @import { MessageBatch } from '../decode/message-batch.js' */
/** @import { Birth } from '../registry/birth-message.js' */
/** @import { DefinitionBook, Definitions } from './definition-book.js' */
/** @import { EdgeResult, NodeDevices, Turn } from './nodes.js' */
/** @import { Payload } from './payload.js' */

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
  /** @param {Turn} turn @param {Definitions} definitions @returns {EdgeResult} */
  function result({ message, payload, identity }, definitions) {
    const batch = decoder.emptyBatch(message.receivedAt);
    readMetrics(payload, definitions, batch);
    return { ...NOTHING, birth: readBirthCertificate(payload, identity, message.receivedAt), batch };
  }

  /** @param {Turn} turn @returns {Promise<EdgeResult>} */
  async function enter(turn) {
    const { message, identity, node, payload } = turn;
    const { changes } = node;
    const definitions = await book.enter(identity, definitionsOf(payload.metrics, message.receivedAt));
    // The connection to the broker may have broken meanwhile, and a later birth is missing.
    if (node.changes === changes) node.present.add(identity.id);
    else node.needsRebirth = true;
    return result(turn, definitions);
  }

  /** A birth that is delivered again, and is not the newest: nobody knows which aliases are valid. @param {Turn} turn @param {string[]} ids @returns {EdgeResult} */
  function contradictory(turn, ids) {
    for (const id of ids) turn.node.forgetBirth(id);
    turn.node.needsRebirth = true;
    const definitions = definitionsOf(turn.payload.metrics, turn.message.receivedAt);
    return { ...result(turn, definitions), isContradictory: true };
  }

  return {
    /** @param {Turn} turn @returns {Promise<EdgeResult>} */
    async node(turn) {
      const { message, identity, node, payload } = turn;
      const bdSeq = bdSeqOf(payload.metrics);
      const isNew = !node.born || bdSeq !== node.bdSeq;
      if (message.again && node.born && isNew) return contradictory(turn, [...node.present]);
      // The births of its devices follow. Until then their aliases are not valid.
      node.forgetBirths();
      const born = await enter(turn);
      // A new connection of the node: its devices are offline until their births arrive.
      const ended = isNew ? await devices.all(turn) : [];
      if (isNew) await retry.run(() => store.writeNode(identity.bytes, bdSeq));
      node.sequence.begin(payload.seq);
      Object.assign(node, { born: true, bdSeq, needsRebirth: !node.present.has(identity.id) });
      return { ...born, isNewSession: isNew, ended };
    },

    /** @param {Turn} turn @returns {Promise<EdgeResult>} */
    async device(turn) {
      const { message, identity, node, payload } = turn;
      const isPresent = node.present.has(identity.id);
      node.forgetBirth(identity.id);
      const known = await book.newest(identity);
      if (message.again && isPresent) {
        const { text } = definitionsOf(payload.metrics, message.receivedAt);
        if (known?.text !== text) return contradictory(turn, [identity.id]);
      }
      if (!known) await devices.enter(turn);
      return enter(turn);
    },

    /**
     * Reads a birth again, for a replay.
     *
     * @param {{ payload: Payload, identity: Identity, receivedAt: number }} birth `receivedAt`: epoch ms
     * @param {MessageBatch} batch
     * @returns {Birth}
     */
    readAgain({ payload, identity, receivedAt }, batch) {
      readMetrics(payload, definitionsOf(payload.metrics, receivedAt), batch);
      return readBirthCertificate(payload, identity, receivedAt);
    },
  };
}

/**
 * Converts a birth certificate to a birth. Its sensors are the numeric metrics.
 *
 * @param {Payload} payload its timestamp identifies the session
 * @param {Identity} device
 * @param {number} receivedAt epoch ms
 * @returns {Birth}
 */
export function readBirthCertificate({ metrics, timestamp }, device, receivedAt) {
  /** @type {Birth} */
  const birth = {
    session: readSession(timestamp, receivedAt),
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
