import { someAtOnce } from '../../../common/some-at-once.js';

/** @typedef {import('../../store/registry/index.js').PartitionWrite} PartitionWrite */

/** Requests that one registration has under way at most: a birth of 10,000 sensors must not crowd out everybody else. */
const WRITES_AT_ONCE = 16;

/**
 * Commits what registering sensors writes, each request by itself: 10,000 sensors of different types are as many, and
 * one that times out is repeated alone.
 *
 * @param {object} parts
 * @param {import('../../store/registry/index.js').RegistryStore} parts.store
 * @param {import('../../store/retry.js').Patience} parts.patience
 * @param {() => number} parts.clock epoch ms
 */
export function createSensorWriter({ store, patience, clock }) {
  /** @param {PartitionWrite[]} writes */
  const commit = (writes) =>
    someAtOnce(WRITES_AT_ONCE, writes, (write) => patience.persist(() => store.commit(write)));

  return {
    /**
     * @param {import('./cache.js').Device} device
     * @param {import('../../store/registry/index.js').SensorChange[]} changes
     * @param {number} now epoch ms
     * @returns {Promise<void>} settles when all is committed
     */
    async write(device, changes, now) {
      const { indexes, sensors } = store.sensorWrites(device, changes, now);
      await commit(indexes);
      await commit(sensors);
      // Behind what it tells of: who counts sees the new sensors when he sees this.
      await patience.persist(() => store.writeSensorsAt(device, clock()));
    },
  };
}

/** @typedef {ReturnType<typeof createSensorWriter>} SensorWriter */
