import { float64, int64 } from '../../../api/store/cql-encoding.js';
import { PendingHour } from '../../../api/store/measurements/writes.js';
import { routingKey } from '../../../api/store/sending/routing.js';
import { DAY_MS } from '../../../schema/rules.js';

/** @import { Query, Session } from '../../../api/store/sending/session.js' */
/** @import { Numbers } from '../../../schema/packed/series.js' */

/**
 * The usual model: a partition for each sensor and day.
 *
 * @param {string} window the options of a time-window-compacted table
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
 * Writes one row per sample in the best known way: prepared, and as an unlogged batch for each partition that a message touches, all of them
 * at once. It takes the place of the packed rows in our own ingest; everything else is the same.
 *
 * @param {Session} session
 * @returns {Session} that writes the samples of a waiting hour as single rows
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
    // The batch takes further rows until its first request may be sent, as with our own rows.
    const takeFirst = () => {
      row.close();
      const [first, ...rest] = byPartition(encode(row));
      others = Promise.all(rest.map((rows) => session.writeBatch(row.name, () => rows, rows[0]?.routing)));
      others.catch(() => {}); // Awaited below, after the first.
      return first ?? [];
    };
    const { hour, device } = row;
    const [oldest] = hour.pieces;
    await session.writeBatch(
      row.name,
      takeFirst,
      oldest && daysOf(device.bytes, oldest.sensor, hour.bucket).routing,
    );
    await others;
  }

  return Object.assign(Object.create(session), { writeMerged });
}

/** @typedef {Query & { routing: Buffer }} RoutedQuery the very same Buffer for one partition */

/** @param {RoutedQuery[]} queries @returns {RoutedQuery[][]} in order of their first */
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
 * The day's partition of each sensor, by the Buffer of its id, which ingest keeps: as our own store remembers hours.
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
