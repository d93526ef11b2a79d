import { identifyDevice } from '../../../schema/ids.js';

/** @typedef {import('../registry/cache.js').Device} Device */
/** @typedef {import('./turn.js').Turn} Turn */

/**
 * Which devices are whose: with their node's connection they end as well.
 *
 * @param {object} parts
 * @param {import('../../store/sparkplug.js').SparkplugStore} parts.store
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('../../store/retry.js').Patience} parts.patience
 */
export function createNodeDevices({ store, registry, patience }) {
  return {
    /** @param {Turn} turn of a device @returns {Promise<unknown>} settles when it is committed */
    enter: ({ topic, nodeIdentity }) =>
      patience.persist(() => store.writeDevice(nodeIdentity.bytes, /** @type {string} */ (topic.device))),

    /**
     * @param {Turn} turn
     * @param {number} before epoch ms
     * @returns {Promise<Device[]>} the node's devices whose newest birth is older
     */
    async bornBefore({ topic, nodeIdentity }, before) {
      /** @type {Device[]} */
      const found = [];
      for (const name of await patience.persist(() => store.devices(nodeIdentity.bytes))) {
        const identity = identifyDevice(`${topic.node}/${name}`);
        const device = identity && (await registry.find(identity));
        if (device && (device.session ?? 0) < before) found.push(device);
      }
      return found;
    },
  };
}

/** @typedef {ReturnType<typeof createNodeDevices>} NodeDevices */
