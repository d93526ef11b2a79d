import { connectStore } from '../../../api/store/index.js';
import { ROW_TABLE } from '../variants/row-writes.js';
import { STORES } from '../variants/stores.js';
import { createTables } from '../variants/tables.js';
import { fleetOf } from './fleet.js';
import { load } from './load.js';
import { createHistoryWriter, createMessageWriter } from './writers.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { DataSet } from './load.js' */

/** @typedef {'history' | 'batches' | 'rows'} Into */

/** Samples of a sensor in a message where nothing else is said. */
const BATCH = 60;

/**
 * Builds a data set in a migrated keyspace.
 *
 * @param {object} options
 * @param {Config} options.config
 * @param {{ seed: number, devices: number, sensors: number }} options.fleet
 * @param {DataSet} options.set
 * @param {Into} options.into
 * @param {number} [options.batch] samples of a sensor in a message; batches and rows alone
 * @param {(hour: number) => number} [options.arrival] when an hour's messages are committed, epoch ms; default now, so that
 *   most of them are late
 * @param {(samples: number) => void} [options.onProgress]
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<{ samples: number }>} committed
 */
export async function build({ config, fleet, set, into, batch = BATCH, arrival, onProgress, signal }) {
  const store = await openStore(config, into);
  try {
    const write =
      into === 'history'
        ? createHistoryWriter(store, Date.now())
        : createMessageWriter(store, {
            samples: batch,
            // Rows are for comparison alone, and nothing of them goes into history.
            arrival: into === 'rows' ? (hour) => hour : (arrival ?? Date.now),
          });
    const devices = fleetOf({ ...fleet, groups: config.retention.latestGroups });
    return await load({ store, write, fleet: devices, set, onProgress, signal });
  } finally {
    await store.close();
  }
}

/** @param {Config} config @param {Into} into */
async function openStore(config, into) {
  const parts = { ...config, observe: () => {}, onStaleIndex: () => {} };
  if (into !== 'rows') return connectStore(parts);
  await createTables(config, [ROW_TABLE]);
  return /** @type {typeof connectStore} */ (STORES['rows'])(parts);
}
