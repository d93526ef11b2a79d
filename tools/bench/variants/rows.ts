import { connect } from '../../../api/store/connect.ts';
import { float64, int64 } from '../../../api/store/cql-values.ts';
import { routingKey } from '../../../api/store/driver-policies.ts';
import { connectStore } from '../../../api/store/index.ts';
import { PendingHour } from '../../../api/store/measurements/writes.ts';
import { PendingRow } from '../../../api/store/sending/pending-rows.ts';
import type { Query, Session } from '../../../api/store/sending/session.ts';
import type { Config } from '../../../common/settings/config.ts';
import { DDL, dialectOf } from '../../../schema/migrate/cluster.ts';
import { windowOptions } from '../../../schema/migrate/files.ts';
import { DAY_MS } from '../../../schema/rules.ts';

/** The usual model, with a partition for each sensor and day. @param window table options for time-window compaction */
const ROW_TABLE = (window: string) => `
CREATE TABLE IF NOT EXISTS measurement_row (
  device_id uuid,
  sensor_id uuid,
  day timestamp,
  ts timestamp,
  value double,
  PRIMARY KEY ((device_id, sensor_id, day), ts)
) WITH CLUSTERING ORDER BY (ts DESC) AND ${window}`;

const INSERT = 'INSERT INTO measurement_row (device_id, sensor_id, day, ts, value) VALUES (?, ?, ?, ?, ?)';

/** The table stands next to the usual tables, with the TTL of messages. The keyspace must exist. */
export async function createRowTable({ cql, retention }: Config) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  try {
    const window = windowOptions(retention.batchDays, await dialectOf(client));
    await client.execute(ROW_TABLE(window), [], DDL);
  } finally {
    await client.shutdown();
  }
}

export const connectRowStore: typeof connectStore = (options) =>
  connectStore({ ...options, hooks: { ...options.hooks, wrapSession: withRowWrites } });

/**
 * Writes rows in the best known way: with prepared statements, and with an unlogged batch for each partition of a message, all
 * concurrently.
 */
function withRowWrites(session: Session): Session {
  /** By the Buffer of the sensor id, which ingest keeps. Millrace's own store remembers hours in this way. */
  const days: WeakMap<Buffer, Day> = new WeakMap();

  function dayOf(device: Buffer, sensor: Buffer, at: number): Day {
    const start = at - (at % DAY_MS);
    const known = days.get(sensor);
    if (known?.start === start) return known;
    const day = int64(start);
    const partition = { start, day, routing: routingKey(device, sensor, day) };
    days.set(sensor, partition);
    return partition;
  }

  function encode({ device, hour: { bucket, pieces } }: PendingHour): Array<[Day, Query[]]> {
    const partitions: Map<Day, Query[]> = new Map();
    for (const { sensor, times, values, from, to } of pieces) {
      const day = dayOf(device.bytes, sensor, bucket);
      const rows = partitions.get(day) ?? [];
      partitions.set(day, rows);
      for (let at = from; at < to; at++) {
        const row = [int64(times[at] as number), float64(values[at] as number)];
        rows.push({ query: INSERT, params: [device.bytes, sensor, day.day, ...row] });
      }
    }
    return [...partitions];
  }

  async function writeMerged(row: PendingRow) {
    if (!(row instanceof PendingHour)) return session.writeMerged(row);
    const { hour, device } = row;
    const [oldest] = hour.pieces;
    if (!oldest) return;
    let others: Promise<unknown> = Promise.resolve();
    const { routing } = dayOf(device.bytes, oldest.sensor, hour.bucket);
    const first = new PendingRow(row.name, { key: [], routing, open: null, last: null }, 0);
    first.isAlone = true;
    // Further rows may join the batch until its first request is sent, as in the store with packed rows.
    first.toQueries = () => {
      row.close();
      const [oldestRows, ...rest] = encode(row);
      others = Promise.all(rest.map(([day, rows]) => session.writeBatch(row.name, rows, day.routing)));
      others.catch(() => {}); // Awaited below, after the first.
      return oldestRows?.[1] ?? [];
    };
    await session.writeMerged(first);
    await others;
  }

  return Object.assign(Object.create(session), { writeMerged });
}

type Day = { start: number; day: Buffer; routing: Buffer };
