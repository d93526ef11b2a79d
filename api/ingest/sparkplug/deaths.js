import { bdSeqOf } from './metrics.js';
import { NOTHING } from './turn.js';

/** @typedef {import('./turn.js').Turn} Turn */
/** @typedef {import('./turn.js').Said} Said */

/**
 * NDEATH and DDEATH.
 *
 * @param {object} parts
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('./node-devices.js').NodeDevices} parts.devices
 */
export function createSparkplugDeaths({ registry, devices }) {
  return {
    /**
     * The death of a node is that of its devices (tck-id-operational-behavior-edge-node-termination-host-action-ndeath-devices-offline).
     * Its payload was written when the node connected; only the number tells of which birth it is the end.
     *
     * @param {Turn} turn
     * @returns {Promise<Said>}
     */
    async node(turn) {
      const { identity, node, payload } = turn;
      if (!node.born || bdSeqOf(payload.metrics) !== node.bdSeq) return NOTHING;
      node.wanting = true;
      const own = await registry.find(identity);
      const its = await devices.bornBefore(turn, Number.POSITIVE_INFINITY);
      return { birth: null, ended: own ? [own, ...its] : its, batch: null };
    },

    /** @param {Turn} turn @returns {Promise<Said>} */
    async device({ identity, sentAt }) {
      const device = await registry.find(identity);
      // One that was born again since lives.
      const ended = device && sentAt >= (device.session ?? 0) ? [device] : [];
      return { birth: null, ended, batch: null };
    },
  };
}
