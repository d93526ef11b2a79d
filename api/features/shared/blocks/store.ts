import type { DeviceBytes } from '../../../../schema/ids.ts';
import type { Page } from '../../../store/history/unpacked.ts';
import { createLateArrivals, int32, int64 } from '../../../store/index.ts';
import type { Row, Session } from '../../../store/sending/session.ts';

/** A block is what one row of `message` has. */
export interface StoredBlock {
  /** part of the device's sensors: see `Hour` in measurements/hours.ts */
  part: number;
  /** epoch ms of the newest sample */
  ts: number;
  digest: Buffer;
  samples: Buffer;
  /** write timestamp of the row, in epoch ms */
  writtenAt: number;
}

const SELECT_BLOCKS = {
  name: 'stream_blocks',
  cql: 'SELECT parts, ts, digest, samples, WRITETIME(samples) AS written FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  fetchSize: 500,
};
const SELECT_BLOCKS_SINCE = {
  ...SELECT_BLOCKS,
  name: 'stream_blocks_since',
  cql: 'SELECT parts, ts, digest, samples, WRITETIME(samples) AS written FROM message WHERE device_id = ? AND bucket = ? AND part = ? AND ts >= ?',
};
const SELECT_PARTS = {
  name: 'stream_parts',
  cql: 'SELECT parts FROM message WHERE device_id = ? AND bucket = ? AND part = ? LIMIT 1',
};
const DEVICES_AFTER = {
  name: 'stream_devices',
  cql: 'SELECT device_id FROM device WHERE grp = ? AND device_id >= ?',
  fetchSize: 500,
};
const DEVICES = { ...DEVICES_AFTER, cql: 'SELECT device_id FROM device WHERE grp = ?' };
export function createBlockStore(session: Session) {
  return {
    async devicePage(group: number, from: DeviceBytes | null, after?: string): Promise<Page<DeviceBytes>> {
      const { rows, next } = from
        ? await session.page(DEVICES_AFTER, [group, from], after)
        : await session.page(DEVICES, [group], after);
      return { items: rows.map((row) => row['device_id'].getBuffer()), next };
    },

    /** The parts over which the samples of an hour are spread, ascending from 0. */
    async parts(device: DeviceBytes, bucket: number): Promise<number[]> {
      const row = await session.one(SELECT_PARTS, [device, int64(bucket), int32(0)]);
      return [0, ...otherParts(row)];
    },

    /** Newest first. `since`: epoch ms; blocks whose newest sample is earlier are left out. */
    async blockPage(
      device: DeviceBytes,
      bucket: number,
      part: number,
      { since, after }: { since?: number; after?: string } = {},
    ): Promise<Page<StoredBlock>> {
      const key = [device, int64(bucket), int32(part)];
      const { rows, next } =
        since !== undefined && since > bucket
          ? await session.page(SELECT_BLOCKS_SINCE, [...key, int64(since)], after)
          : await session.page(SELECT_BLOCKS, key, after);
      return { items: rows.filter((row) => row['samples']).map((row) => toBlock(row, part)), next };
    },

    /** Hours that got late messages, by the hour of their commit. */
    lateArrivalPage: createLateArrivals(session).page,
  };
}

export type BlockStore = ReturnType<typeof createBlockStore>;

/** Further parts of the hour of `row`, whose part is 0. */
export const otherParts = (row: Row | null | undefined): number[] =>
  Array.from({ length: Math.max(0, ...(row?.['parts'] ?? [])) }, (_, index) => index + 1);

const toBlock = (row: Row, part: number): StoredBlock => ({
  part,
  ts: row['ts'].getTime(),
  digest: row['digest'],
  samples: row['samples'],
  writtenAt: Math.floor(Number(row['written']) / 1000),
});
