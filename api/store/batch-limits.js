import { DIALECTS } from '../../schema/migrate/files.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Dialect } from '../../schema/migrate/files.js' */

/**
 * What one unlogged batch of several partitions may have.
 *
 * @typedef {object} BatchLimits
 * @property {number} partitions
 * @property {number} bytes
 */

/** Defaults of Cassandra: it warns of more, and refuses ten times the bytes. ScyllaDB warns of more than 128 KiB. @type {BatchLimits} */
export const DEFAULT_LIMITS = { partitions: 10, bytes: 5 * 1024 };

/**
 * With more, nothing is gained. At 50 sensors a message, 64 partitions and 32 KiB in place of 10 and 5 KiB save a tenth of the CPU of ingest
 * and a seventh of that of the database.
 */
const MOST = { partitions: 64, bytes: 32 * 1024 };

const SETTINGS = 'SELECT name, value FROM system_views.settings WHERE name IN ?';
const PARTITIONS = 'unlogged_batch_across_partitions_warn_threshold';
const BYTES = 'batch_size_warn_threshold';

/** Bytes of each unit in the settings of Cassandra. */
const UNITS = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
]);

/**
 * Reads from which size on the server warns of a batch. All nodes should have the same settings.
 *
 * @param {Client} client
 * @param {Dialect} dialect
 * @returns {Promise<BatchLimits>} the defaults where the settings of the server cannot be read
 */
export async function readBatchLimits(client, dialect) {
  if (dialect !== DIALECTS.cassandra) return DEFAULT_LIMITS;
  try {
    const { rows } = await client.execute(SETTINGS, [[PARTITIONS, BYTES]]);
    return limitsOf(new Map(rows.map((row) => [row['name'], row['value']])));
  } catch {
    // Only a speed depends on it: a role may not read this table, and Cassandra before 4.1 has other names.
    return DEFAULT_LIMITS;
  }
}

/** @param {Map<string, string>} settings values by name @returns {BatchLimits} */
export function limitsOf(settings) {
  const partitions = Number(settings.get(PARTITIONS) ?? Number.NaN);
  const [, digits, unit = ''] = /^(\d+)([KMG]?i?B)$/.exec(settings.get(BYTES) ?? '') ?? [];
  const bytes = Number(digits) * (UNITS.get(unit) ?? Number.NaN);
  return {
    partitions: isCount(partitions) ? Math.min(partitions, MOST.partitions) : DEFAULT_LIMITS.partitions,
    bytes: isCount(bytes) ? Math.min(bytes, MOST.bytes) : DEFAULT_LIMITS.bytes,
  };
}

/** @param {number} value */
const isCount = (value) => Number.isInteger(value) && value > 0;
