import type { DeviceBytes } from '../../schema/ids.ts';
import { digestOf } from '../../schema/packed/pack.ts';
import { int32, int64 } from './cql-encoding.ts';
import type { Page } from './history/unpacked.ts';
import type { Row, Session } from './sending/session.ts';
import { writeTimestamp } from './write-timestamps.ts';

export const DIGEST_BYTES = 8;

/** A note is a row that lists blocks that were streamed out. 256 digests have 2 KiB. */
export const MAX_DIGESTS_PER_NOTE = 256;

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

/**
 * Messages of one hour that were committed while the hour was closing, or later. `bucket`: epoch ms of the
 * hour; `since`: epoch ms; all of these messages were written at this time or later
 */
type LateArrival = { device: DeviceBytes; bucket: number; since: number };

const SELECT_DIGESTS = {
  name: 'stream_digests',
  cql: 'SELECT parts, digest FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  fetchSize: 2000,
};
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
const SELECT_NOTES = {
  name: 'read_stream_notes',
  cql: 'SELECT digests FROM stream_note WHERE device_id = ? AND bucket = ?',
};
const INSERT_NOTE = {
  name: 'write_stream_note',
  cql: 'INSERT INTO stream_note (device_id, bucket, digest, digests) VALUES (?, ?, ?, ?)',
};
const SELECT_PROGRESS = {
  name: 'read_stream_progress',
  cql: 'SELECT streamed_until FROM stream_progress WHERE grp = ?',
};
const WRITE_PROGRESS = {
  name: 'write_streamed_until',
  cql: 'UPDATE stream_progress USING TIMESTAMP ? SET streamed_until = ? WHERE grp = ?',
};
const SELECT_TOPICS = {
  name: 'read_stream_topics',
  cql: 'SELECT topic, streamed_until FROM stream_topic WHERE grp = ?',
};
const WRITE_TOPIC = {
  name: 'write_stream_topic',
  cql: 'UPDATE stream_topic USING TIMESTAMP ? SET streamed_until = ? WHERE grp = ? AND topic = ?',
};

/** Has the blocks of `message` with their digests, notes of the blocks that were streamed out, and the progress of each group of devices. */
export function createStreamStore(session: Session) {
  return {
    async devicePage(group: number, from: DeviceBytes | null, after?: string): Promise<Page<DeviceBytes>> {
      const { rows, next } = from
        ? await session.page(DEVICES_AFTER, [group, from], after)
        : await session.page(DEVICES, [group], after);
      return { items: rows.map((row) => row['device_id'].getBuffer()), next };
    },

    async digests(device: DeviceBytes, bucket: number): Promise<Set<string>> {
      const found: Set<string> = new Set();
      const read = async (part: number) => {
        const rows = await session.all(SELECT_DIGESTS, [device, int64(bucket), int32(part)]);
        for (const row of rows) if (row['digest']) found.add(row['digest'].toString('hex'));
        return rows;
      };
      const [first] = await read(0);
      for (const part of otherParts(first)) await read(part);
      return found;
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

    /** Digests, as hex, of the blocks that were streamed out. */
    async notes(device: DeviceBytes, bucket: number): Promise<Set<string>> {
      const rows = await session.all(SELECT_NOTES, [device, int64(bucket)]);
      const found: Set<string> = new Set();
      for (const { digests } of rows) {
        for (let at = 0; at < digests.length; at += DIGEST_BYTES) {
          found.add(digests.toString('hex', at, at + DIGEST_BYTES));
        }
      }
      return found;
    },

    /** @param digests joined */
    writeNote: (device: DeviceBytes, bucket: number, digests: Buffer) =>
      session.write(INSERT_NOTE, [device, int64(bucket), digestOf(digests), digests]),

    /** All earlier hours were streamed out completely; null: streaming has not begun. */
    async streamedUntil(group: number): Promise<number | null> {
      const row = await session.one(SELECT_PROGRESS, [group]);
      return row?.['streamed_until']?.getTime() ?? null;
    },

    /** The write timestamp is `until` itself. So if two processes stream a group, the database keeps the later progress. */
    writeStreamed: (group: number, until: number) =>
      session.write(WRITE_PROGRESS, [writeTimestamp(until), int64(until), group]),

    /** By topic. A topic without a row has the progress of the group (`streamedUntil`). */
    async topicsUntil(group: number): Promise<Map<string, number>> {
      const rows = await session.all(SELECT_TOPICS, [int32(group)]);
      return new Map(rows.map((row) => [row['topic'], row['streamed_until'].getTime()]));
    },

    /** The write timestamp is `until` itself, as in `writeStreamed`. */
    writeTopic: (group: number, topic: string, until: number) =>
      session.write(WRITE_TOPIC, [writeTimestamp(until), int64(until), int32(group), topic]),
  };
}

export type StreamStore = ReturnType<typeof createStreamStore>;

const otherParts = (row: Row | null | undefined): number[] =>
  Array.from({ length: Math.max(0, ...(row?.['parts'] ?? [])) }, (_, index) => index + 1);

const toBlock = (row: Row, part: number): StoredBlock => ({
  part,
  ts: row['ts'].getTime(),
  digest: row['digest'],
  samples: row['samples'],
  writtenAt: Math.floor(Number(row['written']) / 1000),
});

const INSERT_ARRIVAL = {
  name: 'write_late_arrival',
  cql: 'INSERT INTO late_arrival (grp, noticed, device_id, bucket, since) VALUES (?, ?, ?, ?, ?)',
};
const SELECT_ARRIVALS_FROM = {
  name: 'read_late_arrivals_from',
  cql: 'SELECT device_id, bucket, since FROM late_arrival WHERE grp = ? AND noticed = ? AND (device_id, bucket) >= (?, ?)',
  fetchSize: 1000,
};
const SELECT_ARRIVALS = {
  name: 'read_late_arrivals',
  cql: 'SELECT device_id, bucket, since FROM late_arrival WHERE grp = ? AND noticed = ?',
  fetchSize: 1000,
};

/** The entries are hours of devices that got late messages, by the hour of their commit, `noticed`. */
export function createLateArrivals(session: Session) {
  return {
    write: (group: number, noticed: number, { device, bucket, since }: LateArrival) =>
      session.write(INSERT_ARRIVAL, [int32(group), int64(noticed), device, int64(bucket), int64(since)]),

    async page(
      group: number,
      noticed: number,
      after?: string,
      from: Pick<LateArrival, 'device' | 'bucket'> | null = null,
    ): Promise<Page<LateArrival>> {
      const { rows, next } = from
        ? await session.page(
            SELECT_ARRIVALS_FROM,
            [group, int64(noticed), from.device, int64(from.bucket)],
            after,
          )
        : await session.page(SELECT_ARRIVALS, [group, int64(noticed)], after);
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
