import { LRUCache } from 'lru-cache';
import { shareReads } from '../shared-reads.js';
import { createSequence } from './sequence.js';

/** Edge nodes kept in memory: about 300 bytes each. */
const MOST_NODES = 50_000;

/**
 * What is known of an edge node's session.
 *
 * @typedef {object} Node
 * @property {number | null} bdSeq of the newest NBIRTH, by which its NDEATH is told from older ones; null: it had none
 * @property {boolean} born whether an NBIRTH ever came
 * @property {boolean} wanting whether it has to be born anew: something was missed, or not understood
 * @property {import('./sequence.js').Sequence} sequence
 */

/**
 * The edge nodes. Sequence numbers are kept in memory alone: after a restart of ours any number may come first.
 *
 * @param {object} parts
 * @param {import('../../store/sparkplug.js').SparkplugStore} parts.store
 * @param {import('../../store/retry.js').Patience} parts.patience
 */
export function createNodes({ store, patience }) {
  /** @type {LRUCache<string, Node>} by id */
  const nodes = new LRUCache({ max: MOST_NODES });

  /** @param {import('../../../schema/ids.js').Identity} identity @returns {Promise<Node>} */
  async function load({ id, bytes }) {
    const row = await patience.persist(() => store.node(bytes));
    const node = {
      bdSeq: row?.bdSeq ?? null,
      born: row !== null,
      wanting: false,
      sequence: createSequence(),
    };
    nodes.set(id, node);
    return node;
  }

  const read = shareReads(load);

  return {
    /** @param {import('../../../schema/ids.js').Identity} identity of the node @returns {Promise<Node>} */
    of: async (identity) => nodes.get(identity.id) ?? read(identity),
  };
}

/** @typedef {ReturnType<typeof createNodes>} Nodes */
