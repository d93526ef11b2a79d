import type { DeviceBytes } from '../../schema/ids.ts';
import { int32, int64 } from './cql-values.ts';
import type { Page } from './history/unpacked.ts';
import type { Session } from './sending/session.ts';

/**
 * Messages of one hour that were committed while the hour was closing, or later. `bucket`: epoch ms of the
 * hour; `since`: epoch ms; all of these messages were written at this time or later
 */
type LateArrival = { device: DeviceBytes; bucket: number; since: number };

const INSERT = {
  name: 'write_late_arrival',
  cql: 'INSERT INTO late_arrival (grp, noticed, device_id, bucket, since) VALUES (?, ?, ?, ?, ?)',
};

const SELECT_FROM = {
  name: 'read_late_arrivals_from',
  cql: 'SELECT device_id, bucket, since FROM late_arrival WHERE grp = ? AND noticed = ? AND (device_id, bucket) >= (?, ?)',
  fetchSize: 1000,
};
const SELECT = {
  name: 'read_late_arrivals',
  cql: 'SELECT device_id, bucket, since FROM late_arrival WHERE grp = ? AND noticed = ?',
  fetchSize: 1000,
};

/** The entries are hours of devices that got late messages, by the hour of their commit, `noticed`. Features read them. */
export function createLateArrivals(session: Session) {
  return {
    write: (group: number, noticed: number, { device, bucket, since }: LateArrival) =>
      session.write(INSERT, [int32(group), int64(noticed), device, int64(bucket), int64(since)]),

    async page(
      group: number,
      noticed: number,
      after?: string,
      from: Pick<LateArrival, 'device' | 'bucket'> | null = null,
    ): Promise<Page<LateArrival>> {
      const { rows, next } = from
        ? await session.page(SELECT_FROM, [group, int64(noticed), from.device, int64(from.bucket)], after)
        : await session.page(SELECT, [group, int64(noticed)], after);
      const items = rows.map((row) => ({
        device: row['device_id'].getBuffer(),
        bucket: row['bucket'].getTime(),
        since: row['since'].getTime(),
      }));
      return { items, next };
    },
  };
}

export type LateArrivalStore = ReturnType<typeof createLateArrivals>;
