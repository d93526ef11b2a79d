import { connect } from '../../../api/store/connect.js';
import { connectStore } from '../../../api/store/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { yearOf } from '../../../schema/rules.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Target } from './kinds.js' */

const SELECT_ROWS =
  'SELECT device_id, sensor_id, device, name, type, unit, site FROM sensor WHERE grp = ? LIMIT ?';

/**
 * Opens a reader of the store without HTTP. The bench compares reads over HTTP with these reads.
 *
 * @param {Config} config
 */
export async function openStoreReader({ cql, retention }) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  const store = await connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });

  /** @param {Target} target */
  function keyOf({ device, sensor }) {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(device));
    const identity = /** @type {Identity} */ (identifySensor(id, sensor));
    return { group: groupOf(bytes, retention.latestGroups), device: bytes, sensor: identity.bytes };
  }

  return {
    /** @param {Target} target @param {number} limit @returns {Promise<number>} number of rows that were read from one partition */
    rows: async (target, limit) =>
      (await client.execute(SELECT_ROWS, [keyOf(target).group, limit])).rows.length,

    /**
     * Reads the statistics of all hours, with one concurrent request for each year.
     *
     * @param {Target} target
     * @returns {Promise<number>} number of hours
     */
    async statistics(target) {
      const key = keyOf(target);
      const { from, to } = target;
      const turn = Math.min(to, Date.UTC(yearOf(from) + 1, 0));
      const years = [
        { from, to: turn },
        { from: turn, to },
      ].filter((year) => year.from < year.to);
      const read = await Promise.all(
        years.map((year) => store.packed.readStatistics(key, year.from, year.to)),
      );
      return read.flat().length;
    },

    close: () => Promise.all([store.close(), client.shutdown()]),
  };
}

/** @typedef {Awaited<ReturnType<typeof openStoreReader>>} StoreReader */
