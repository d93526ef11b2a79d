import { bucketOf, DEAD_LETTER_SHARDS, HOUR_MS } from '../../../schema/rules.js';
import { int32, int64 } from '../cells.js';
import { compareLetterIds, firstIdOf, readLetter, readLetterId, receivedAtOf } from './letter.js';
import { summarizeLetters } from './writes.js';

/** @import { Session } from '../session.js' */
/** @import { StoredLetter } from './letter.js' */

const SELECT_IDS = {
  name: 'dead_letter_ids',
  cql: 'SELECT id FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};
const SELECT_HEADS = {
  name: 'dead_letter_heads',
  cql: 'SELECT id, device, codes FROM dead_letter WHERE hour = ? AND shard = ? AND id >= ? AND id < ? LIMIT ?',
};

/** Hours that one page reads at most, each of them 16 partitions: one that finds nothing in a day is empty. */
const MOST_HOURS_A_PAGE = 25;

/** A page holds no more than this of topics and payloads, in bytes; it has one letter at least. */
const MOST_BYTES_A_PAGE = 8 * 1024 * 1024;

/** Letters that are read at once; each may hold 64 KiB of payload and as much of a topic. */
const LETTERS_AT_ONCE = 16;

/** Heads that one request reads. */
const HEADS_AT_ONCE = 1000;

const SHARDS = Array.from({ length: DEAD_LETTER_SHARDS }, (_, shard) => int32(shard));

/** @typedef {{ from: number, to: number }} Range epoch ms, half-open */

/** What a letter is about, without what it holds. @typedef {{ id: Buffer, device: string | null, codes: Record<string, number> }} Head */

/** @param {Session} session */
export function createDeadLetterReads(session) {
  /**
   * @param {{ first: Buffer, end: Buffer, hour: number }} part of an hour: its ids in [first, end)
   * @param {number} most
   * @returns {Promise<Buffer[]>} the newest ids of all shards, newest first
   */
  async function idsIn({ first, end, hour }, most) {
    const bucket = int64(hour);
    const shards = await Promise.all(
      SHARDS.map((shard) => session.all(SELECT_IDS, [bucket, shard, first, end, int32(most)])),
    );
    return shards
      .flat()
      .map((row) => /** @type {Buffer} */ (row['id'].getBuffer()))
      .sort((a, b) => compareLetterIds(b, a))
      .slice(0, most);
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
      const rows = await session.all(SELECT_HEADS, [...key, int32(HEADS_AT_ONCE)]);
      for (const row of rows) {
        onHead({ id: row['id'].getBuffer(), device: row['device'], codes: row['codes'] ?? {} });
      }
      if (rows.length < HEADS_AT_ONCE) return;
      end = rows.at(-1)?.['id'].getBuffer();
    }
  }

  /**
   * Goes through all letters of one hour's part, its shards side by side, in no order.
   *
   * @param {Range} range within one hour
   * @param {(head: Head) => void} onHead told of each
   * @returns {Promise<void>} when it was told of all
   */
  async function scanHour(range, onHead) {
    await Promise.all(SHARDS.map((shard) => readShard(range, shard, onHead)));
  }

  return {
    /** @param {string} text an id @returns {Promise<StoredLetter | null>} null: there is none, or none any more */
    async find(text) {
      const id = readLetterId(text);
      return id && readLetter(session, id);
    },

    /**
     * A page of letters in the range, newest first, across the shards of each hour. It may be short, even empty, before
     * the end.
     *
     * @param {Range} range
     * @param {{ before: Buffer | null, limit: number }} page `before`: the id, or the place between two, that the page
     *   before ended with
     * @returns {Promise<{ letters: StoredLetter[], next: Buffer | null }>} `next` is null at the end
     */
    async page({ from, to }, { before, limit }) {
      /** @type {StoredLetter[]} */
      const letters = [];
      const first = firstIdOf(from);
      let end = before ?? firstIdOf(to);
      let bytes = 0;
      for (let hours = 0; hours < MOST_HOURS_A_PAGE && compareLetterIds(first, end) < 0; hours++) {
        const hour = hourBefore(end);
        const begin = newer(first, firstIdOf(hour));
        const wanted = limit - letters.length + 1;
        const ids = await idsIn({ first: begin, end, hour }, wanted);
        for (let at = 0; at < ids.length; at += LETTERS_AT_ONCE) {
          const read = await Promise.all(
            ids.slice(at, at + LETTERS_AT_ONCE).map((id) => readLetter(session, id)),
          );
          for (const letter of read) {
            if (!letter) continue;
            if (letters.length === limit || bytes > MOST_BYTES_A_PAGE) return { letters, next: end };
            letters.push(letter);
            bytes += weightOf(letter);
            end = letter.id;
          }
        }
        // Fewer than wanted: the hour has no more. Those that expired while they were read count as well.
        end = ids.length < wanted ? begin : /** @type {Buffer} */ (ids.at(-1));
      }
      return { letters, next: compareLetterIds(first, end) < 0 ? end : null };
    },

    scanHour,

    /**
     * Counts by code and hour, the newest hour first.
     *
     * @param {Range} range
     * @param {{ onHour?: (hour: number) => void, mostLetters?: number }} [options]
     */
    summary: (range, options) => summarizeLetters(scanHour, range, options),
  };
}

/** @typedef {ReturnType<typeof createDeadLetterReads>} DeadLetterReads */

/** @param {Buffer} end @returns {number} epoch ms of the hour in which the newest letter before `end` can be */
function hourBefore(end) {
  const began = bucketOf(receivedAtOf(end));
  return compareLetterIds(firstIdOf(began), end) < 0 ? began : began - HOUR_MS;
}

/** @param {Buffer} a @param {Buffer} b */
const newer = (a, b) => (compareLetterIds(a, b) > 0 ? a : b);

/** @param {StoredLetter} letter @returns {number} bytes that it takes to keep or to send, about */
const weightOf = ({ topic, device, content }) =>
  2 * topic.length + (device?.length ?? 0) + (content?.payload.length ?? 0);
