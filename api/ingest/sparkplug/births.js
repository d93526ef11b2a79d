import { readBirthCertificate } from './birth-certificate.js';
import { definitionsOf } from './definitions.js';
import { bdSeqOf, readMetrics } from './metrics.js';

/** @typedef {import('./turn.js').Turn} Turn */
/** @typedef {import('./turn.js').Said} Said */

/**
 * NBIRTH and DBIRTH: what they define is committed before anything else comes of them.
 *
 * @param {object} parts
 * @param {import('../../store/sparkplug.js').SparkplugStore} parts.store
 * @param {import('../decode/index.js').MessageDecoder} parts.decoder
 * @param {import('../../store/retry.js').Patience} parts.patience
 * @param {import('./definition-book.js').DefinitionBook} parts.book
 * @param {import('./node-devices.js').NodeDevices} parts.devices
 */
export function createSparkplugBirths({ store, decoder, patience, book, devices }) {
  /**
   * @param {Pick<Turn, 'payload' | 'identity' | 'sentAt'>} turn
   * @param {import('../decode/message-batch.js').MessageBatch} batch
   */
  async function read({ payload, identity, sentAt }, batch) {
    const definitions = definitionsOf(payload.metrics, sentAt);
    await book.enter(identity, definitions);
    readMetrics(payload, definitions, batch);
    return { birth: readBirthCertificate(payload.metrics, identity, sentAt), batch };
  }

  /** @param {Turn} turn @returns {Promise<Said>} */
  async function born(turn) {
    const batch = decoder.emptyBatch(turn.message.receivedAt);
    return { ...(await read(turn, batch)), ended: [] };
  }

  return {
    read,

    /** @param {Turn} turn @returns {Promise<Said>} */
    async node(turn) {
      const { identity, node, payload, sentAt } = turn;
      const bdSeq = bdSeqOf(payload.metrics);
      node.sequence.begin(payload.seq);
      node.wanting = false;
      // A connection of its own: what the node's devices were before says nothing of them now.
      const ended = node.born && bdSeq !== node.bdSeq ? await devices.bornBefore(turn, sentAt) : [];
      if (!node.born || bdSeq !== node.bdSeq) {
        await patience.persist(() => store.writeNode(identity.bytes, bdSeq));
      }
      Object.assign(node, { born: true, bdSeq });
      return { ...(await born(turn)), ended };
    },

    /** @param {Turn} turn @returns {Promise<Said>} */
    async device(turn) {
      const known = await book.at(turn.identity, turn.sentAt);
      if (!known) await devices.enter(turn);
      return born(turn);
    },
  };
}
