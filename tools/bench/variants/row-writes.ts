import { float64, int64 } from '../../../api/store/cql-encoding.ts';
import { PendingHour } from '../../../api/store/measurements/writes.ts';
import { PendingRow } from '../../../api/store/sending/pending-rows.ts';
import { routingKey } from '../../../api/store/sending/routing.ts';
import type { Query, Session } from '../../../api/store/sending/session.ts';
import type { Numbers } from '../../../schema/packed/series.ts';
import { DAY_MS } from '../../../schema/rules.ts';

/** The usual model, with a partition for each sensor and day. @param window table options for time-window compaction */
export const ROW_TABLE = (window: string) => `
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
 * Writes rows in the best known way: with prepared statements, and with an unlogged batch for each partition of a message, all
 * concurrently. It replaces the packed rows of ingest, and everything else stays the same.
 */
export function withRowWrites(session: Session): Session {
  const daysOf = rememberDays();

  const encode = ({ device, hour: { bucket, pieces } }: PendingHour): RoutedQuery[] =>
    pieces.flatMap(({ sensor, times, values, from, to }) => {
      const { day, routing } = daysOf(device.bytes, sensor, bucket);
      return eachRow(times, values, from, to, (ts, value) => ({
        query: INSERT,
        params: [device.bytes, sensor, day, ts, value],
        routing,
      }));
    });

  async function writeMerged(row: PendingRow) {
    if (!(row instanceof PendingHour)) return session.writeMerged(row);
    let others: Promise<unknown> = Promise.resolve();
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

/** Queries of one partition share the same Buffer as `routing`. */
type RoutedQuery = Query & { routing: Buffer };

/** The order is that of the first query of each partition. */
function byPartition(queries: RoutedQuery[]): RoutedQuery[][] {
  const partitions: Map<Buffer, RoutedQuery[]> = new Map();
  for (const query of queries) {
    const rows = partitions.get(query.routing);
    if (rows) rows.push(query);
    else partitions.set(query.routing, [query]);
  }
  return [...partitions.values()];
}

/** @param times epoch ms */
function eachRow<Q>(
  times: Numbers,
  values: Numbers,
  from: number,
  to: number,
  rowOf: (ts: Buffer, value: Buffer) => Q,
): Q[] {
  const rows = [];
  for (let at = from; at < to; at++)
    rows.push(rowOf(int64(times[at] as number), float64(values[at] as number)));
  return rows;
}

/**
 * Finds the present day's partition by the Buffer of the sensor id, which ingest keeps. Millrace's own store remembers hours in this way.
 */
function rememberDays(): (
  device: Buffer,
  sensor: Buffer,
  at: number,
) => { start: number; day: Buffer; routing: Buffer } {
  const days: WeakMap<Buffer, { start: number; day: Buffer; routing: Buffer }> = new WeakMap();
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
