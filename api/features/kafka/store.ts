import type { DeviceBytes } from '../../../schema/ids.ts';
import { digestOf } from '../../../schema/packed/pack.ts';
import type { Page } from '../../store/history/unpacked.ts';
import { int32, int64, writeTimestamp } from '../../store/index.ts';
import type { OutboxEntry } from '../../store/outbox.ts';
import type { Session } from '../../store/sending/session.ts';
import { createBlockStore, otherParts } from '../shared/blocks/index.ts';

export const DIGEST_BYTES = 8;

/** A note is a row that lists blocks that were streamed out. 256 digests have 2 KiB. */
export const MAX_DIGESTS_PER_NOTE = 256;

const SELECT_DIGESTS = {
  name: 'stream_digests',
  cql: 'SELECT parts, digest FROM message WHERE device_id = ? AND bucket = ? AND part = ?',
  fetchSize: 2000,
};
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

const SELECT_OUTBOX = {
  name: 'read_stream_outbox',
  cql: 'SELECT kind, id FROM stream_outbox WHERE grp = ? AND noticed = ? AND kind = ?',
  fetchSize: 500,
};

/** Blocks with their digests, notes of the blocks that were streamed out, the outbox, and the progress of each group of devices. */
export function createStreamStore(session: Session) {
  return {
    ...createBlockStore(session),

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

    async outboxPage(
      group: number,
      noticed: number,
      kind: string,
      after?: string,
    ): Promise<Page<OutboxEntry>> {
      const { rows, next } = await session.page(SELECT_OUTBOX, [int32(group), int64(noticed), kind], after);
      return { items: rows.map(({ kind, id }) => ({ kind, id })), next };
    },
  };
}

export type StreamStore = ReturnType<typeof createStreamStore>;
