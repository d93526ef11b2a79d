import { float64, int64 } from '../../../api/store/cql-encoding.js';
import { PendingHour } from '../../../api/store/measurements/writes.js';
import { PendingRow } from '../../../api/store/sending/pending-rows.js';
import { routingKey } from '../../../api/store/sending/routing.js';
import { DAY_MS } from '../../../schema/rules.js';

/** @import { Query, Session } from '../../../api/store/sending/session.js' */
/** @import { Numbers } from '../../../schema/packed/series.js' */

/**
 * Returns the CQL of the table of the usual model, with a partition for each sensor and day.
 *
 * @param {string} window table options for time-window compaction
 */
export const ROW_TABLE = (window) => `
CREATE TABLE IF NOT EXISTS measurement_row (
  device_id uuid,
  sensor_id uuid,
  day timestamp,
  ts timestamp,
  value double,
  PRIMARY KEY ((device_id, sensor_id, day), ts)
) WITH CLUSTERING ORDER BY (ts DESC) AND ${window}`;

const INSERT = 'INSERT INTO measurement_row (device_id, sensor_id, day, ts, value) VALUES (?, ?, ?, ?, ?)';

/**
 * Writes one row per sample in the best known way: with prepared statements, and with an unlogged batch for each partition of a
 * message, all concurrently. It replaces the packed rows of ingest, and everything else stays the same.
 *
 * @param {Session} session
 * @returns {Session} a session that writes the samples of a waiting hour as single rows
 */
export function withRowWrites(session) {
  const daysOf = rememberDays();

  /** @param {PendingHour} row @returns {RoutedQuery[]} */
  const encode = ({ device, hour: { bucket, pieces } }) =>
    pieces.flatMap(({ sensor, times, values, from, to }) => {
      const { day, routing } = daysOf(device.bytes, sensor, bucket);
      return eachRow(times, values, from, to, (ts, value) => ({
        query: INSERT,
        params: [device.bytes, sensor, day, ts, value],
        routing,
      }));
    });

  /** @type {Session['writeMerged']} */
  async function writeMerged(row) {
    if (!(row instanceof PendingHour)) return session.writeMerged(row);
    /** @type {Promise<unknown>} */
    let others = Promise.resolve();
    const { hour, device } = row;
    const [oldest] = hour.pieces;
    if (!oldest) return;
    const { routing } = daysOf(device.bytes, oldest.sensor, hour.bucket);
    const first = new PendingRow(row.name, { key: [], routing, open: null, last: null }, 0);
    first.isAlone = true;
    // Further rows may join the batch until its first request is sent, as in the store with packed rows.
    first.toQueries = () => {
      row.close();
      const [queries, ...rest] = byPartition(encode(row));
      others = Promise.all(rest.map((rows) => session.writeBatch(row.name, rows, rows[0]?.routing)));
      others.catch(() => {}); // Awaited below, after the first.
      return queries ?? [];
    };
    await session.writeMerged(first);
    await others;
  }

  return Object.assign(Object.create(session), { writeMerged });
}

/** Queries of one partition share the same Buffer as `routing`. @typedef {Query & { routing: Buffer }} RoutedQuery */

/** @param {RoutedQuery[]} queries @returns {RoutedQuery[][]} queries by partition, in the order of the first query of each partition */
function byPartition(queries) {
  /** @type {Map<Buffer, RoutedQuery[]>} */
  const partitions = new Map();
  for (const query of queries) {
    const rows = partitions.get(query.routing);
    if (rows) rows.push(query);
    else partitions.set(query.routing, [query]);
  }
  return [...partitions.values()];
}

/**
 * @template Q
 * @param {Numbers} times epoch ms
 * @param {Numbers} values
 * @param {number} from
 * @param {number} to
 * @param {(ts: Buffer, value: Buffer) => Q} rowOf
 * @returns {Q[]}
 */
function eachRow(times, values, from, to, rowOf) {
  const rows = [];
  for (let at = from; at < to; at++)
    rows.push(rowOf(int64(/** @type {number} */ (times[at])), float64(/** @type {number} */ (values[at]))));
  return rows;
}

/**
 * Remembers the present day's partition of each sensor, by the Buffer of the sensor id, which ingest keeps. Millrace's own store
 * remembers hours in this way.
 *
 * @returns {(device: Buffer, sensor: Buffer, at: number) => { start: number, day: Buffer, routing: Buffer }}
 */
function rememberDays() {
  /** @type {WeakMap<Buffer, { start: number, day: Buffer, routing: Buffer }>} */
  const days = new WeakMap();
  return (device, sensor, at) => {
    const start = at - (at % DAY_MS);
    const known = days.get(sensor);
    if (known?.start === start) return known;
    const day = int64(start);
    const partition = { start, day, routing: routingKey(device, sensor, day) };
    days.set(sensor, partition);
    return partition;
  };
}
