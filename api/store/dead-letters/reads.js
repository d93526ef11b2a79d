import { bucketOf, DEAD_LETTER_SHARDS, HOUR_MS } from '../../../schema/rules.js';
import { int32, int64 } from '../cql-encoding.js';
import {
  compareDeadLetterIds,
  firstIdOf,
  parseDeadLetterId,
  readDeadLetter,
  receivedAtOf,
} from './dead-letter.js';
import { summarizeDeadLetters } from './writes.js';

/** @import { Session } from '../session.js' */
/** @import { StoredDeadLetter } from './dead-letter.js' */

const SELECT_IDS = {
  name: 'dead_letter_ids',
  cql: 'SELECT id FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};
const SELECT_HEADS = {
  name: 'dead_letter_heads',
  cql: 'SELECT id, device, codes FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};

/** Hours that one page may read. An hour has 16 partitions. */
const MAX_HOURS_PER_PAGE = 25;

/** Bytes of topics and payloads in a page. The first dead letter of a page may be larger. */
const MAX_BYTES_PER_PAGE = 8 * 1024 * 1024;

/** Concurrent reads of dead letters. Each may hold 64 KiB of payload and 64 KiB of topic. */
const CONCURRENT_READS = 16;

/** Heads that one request reads. */
const HEADS_PER_REQUEST = 1000;

const SHARDS = Array.from({ length: DEAD_LETTER_SHARDS }, (_, shard) => int32(shard));

/** @typedef {{ from: number, to: number }} Range epoch ms, half-open */

/** A dead letter without its content. @typedef {{ id: Buffer, device: string | null, codes: Record<string, number> }} Head */

/**
 * Reads of the table `dead_letter`.
 *
 * @param {Session} session
 */
export function createDeadLetterReads(session) {
  /**
   * @param {{ first: Buffer, end: Buffer, hour: number }} slice the ids of the hour in [first, end)
   * @param {number} limit
   * @returns {Promise<Buffer[]>} the newest ids of all shards, newest first
   */
  async function readIds({ first, end, hour }, limit) {
    const bucket = int64(hour);
    const shards = await Promise.all(
      SHARDS.map((shard) => session.all(SELECT_IDS, [bucket, shard, first, end, int32(limit)])),
    );
    return shards
      .flat()
      .map((row) => /** @type {Buffer} */ (row['id'].getBuffer()))
      .sort((a, b) => compareDeadLetterIds(b, a))
      .slice(0, limit);
  }

  /**
   * @param {Range} range within one hour
   * @param {Buffer} shard
   * @param {(head: Head) => void} onHead
   */
  async function readShard({ from, to }, shard, onHead) {
    const first = firstIdOf(from);
    let end = firstIdOf(to);
    for (;;) {
      const key = [int64(bucketOf(from)), shard, first, end];
      const rows = await session.all(SELECT_HEADS, [...key, int32(HEADS_PER_REQUEST)]);
      for (const row of rows) {
        onHead({ id: row['id'].getBuffer(), device: row['device'], codes: row['codes'] ?? {} });
      }
      if (rows.length < HEADS_PER_REQUEST) return;
      end = rows.at(-1)?.['id'].getBuffer();
    }
  }

  /**
   * Reads the heads of all dead letters in the range, in no order. The shards are read concurrently.
   *
   * @param {Range} range within one hour
   * @param {(head: Head) => void} onHead called for each dead letter
   * @returns {Promise<void>}
   */
  async function scanHour(range, onHead) {
    await Promise.all(SHARDS.map((shard) => readShard(range, shard, onHead)));
  }

  return {
    /** @param {string} text an id @returns {Promise<StoredDeadLetter | null>} null: it does not exist, or it has expired */
    async find(text) {
      const id = parseDeadLetterId(text);
      return id && readDeadLetter(session, id);
    },

    /**
     * Reads a page of dead letters, newest first, across the shards of each hour. A page before the end may be short, even empty.
     *
     * @param {Range} range
     * @param {{ before: Buffer | null, limit: number }} page `before`: `next` of the previous page
     * @returns {Promise<{ deadLetters: StoredDeadLetter[], next: Buffer | null }>} `next` is null at the end
     */
    async page({ from, to }, { before, limit }) {
      /** @type {StoredDeadLetter[]} */
      const deadLetters = [];
      const first = firstIdOf(from);
      let end = before ?? firstIdOf(to);
      let bytes = 0;
      for (let hours = 0; hours < MAX_HOURS_PER_PAGE && compareDeadLetterIds(first, end) < 0; hours++) {
        const hour = hourBefore(end);
        const begin = newer(first, firstIdOf(hour));
        const wanted = limit - deadLetters.length + 1;
        const ids = await readIds({ first: begin, end, hour }, wanted);
        for (let index = 0; index < ids.length; index += CONCURRENT_READS) {
          const read = await Promise.all(
            ids.slice(index, index + CONCURRENT_READS).map((id) => readDeadLetter(session, id)),
          );
          for (const deadLetter of read) {
            if (!deadLetter) continue;
            if (deadLetters.length === limit || bytes > MAX_BYTES_PER_PAGE) return { deadLetters, next: end };
            deadLetters.push(deadLetter);
            bytes += bytesOf(deadLetter);
            end = deadLetter.id;
          }
        }
        // The hour has no more when it has fewer ids than wanted. Dead letters that expired during the read count as well.
        end = ids.length < wanted ? begin : /** @type {Buffer} */ (ids.at(-1));
      }
      return { deadLetters, next: compareDeadLetterIds(first, end) < 0 ? end : null };
    },

    scanHour,

    /**
     * Counts dead letters by code and hour, newest hour first: see `summarizeDeadLetters`.
     *
     * @param {Range} range
     * @param {{ onHour?: (hour: number) => void, maxDeadLetters?: number }} [options]
     */
    summary: (range, options) => summarizeDeadLetters(scanHour, range, options),
  };
}

/** @typedef {ReturnType<typeof createDeadLetterReads>} DeadLetterReads */

/** @param {Buffer} end @returns {number} epoch ms of the latest hour that can hold a dead letter before `end` */
function hourBefore(end) {
  const began = bucketOf(receivedAtOf(end));
  return compareDeadLetterIds(firstIdOf(began), end) < 0 ? began : began - HOUR_MS;
}

/** @param {Buffer} a @param {Buffer} b */
const newer = (a, b) => (compareDeadLetterIds(a, b) > 0 ? a : b);

/** @param {StoredDeadLetter} deadLetter @returns {number} its approximate size in memory, in bytes */
const bytesOf = ({ topic, device, content }) =>
  2 * topic.length + (device?.length ?? 0) + (content?.payload.length ?? 0);
