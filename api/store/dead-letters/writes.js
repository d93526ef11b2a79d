import { createHash } from 'node:crypto';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { int32 } from '../cells.js';
import { keyOf, newLetterId, packElements } from './letter.js';

/** @import { Refusal } from '../../../common/errors.js' */
/** @import { Session } from '../session.js' */
/** @import { Head, Range } from './reads.js' */

/** Of a longer payload only this much is kept, in bytes; it cannot be replayed. */
export const KEPT_PAYLOAD_BYTES = 65_536;

/** Refused measurements listed one by one with their codes; the counts and the set hold all of them. */
const LISTED = 100;

const INSERT = {
  name: 'write_dead_letter',
  cql: 'INSERT INTO dead_letter (hour, shard, id, device, topic, content_type, size, sha256, payload, codes, refused, refused_set) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
};

/** Why some measurements of a message were not stored. @typedef {Refusal[]} Refusals */

/**
 * @typedef {object} DeadLetter
 * @property {number} receivedAt epoch ms
 * @property {string | undefined} device as the topic has it; undefined for a letter that counts for several
 * @property {string} topic
 * @property {Record<string, number>} codes refused measurements by code
 * @property {{ contentType: string | undefined, payload: Buffer, refused: Refusals } | null} content of the message;
 *   null for a letter that only counts
 */

/** @param {Session} session */
export function createDeadLetterWrites(session) {
  return {
    /**
     * @param {DeadLetter} letter
     * @returns {Promise<void>} settles when it is committed
     */
    async write({ receivedAt, device, topic, codes, content }) {
      await session.write(INSERT, [
        ...keyOf(newLetterId(receivedAt)),
        device,
        topic,
        content?.contentType,
        content ? int32(content.payload.length) : undefined,
        content ? createHash('sha256').update(content.payload).digest() : undefined,
        content?.payload.subarray(0, KEPT_PAYLOAD_BYTES),
        codes,
        content ? JSON.stringify(content.refused.slice(0, LISTED)) : undefined,
        content ? refusedSet(content.refused) : undefined,
      ]);
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterWrites>} DeadLetterWrites */

/** @param {Refusals} refused @returns {Buffer | undefined} undefined: the message as a whole */
function refusedSet(refused) {
  const indexes = refused.map(({ index }) => index);
  return indexes.includes(-1) ? undefined : packElements(indexes);
}

/** After so many letters a summary ends with the hour that it is in: what is older is another request's. */
const MOST_LETTERS = 100_000;

/**
 * What was refused in one hour.
 *
 * @typedef {{ hour: number, letters: number, codes: Record<string, number> }} HourCount `hour` in epoch ms; `codes` are
 *   refused measurements by code
 */

/**
 * Counts by code and hour, the newest hour first; hours without a letter are left out.
 *
 * @param {(range: Range, onHead: (head: Head) => void) => Promise<void>} scanHour
 * @param {Range} range
 * @param {{ onHour?: (hour: number) => void, mostLetters?: number }} [options] `onHour` is told where it is, in epoch ms
 * @returns {Promise<{ hours: HourCount[], from: number }>} `from`, in epoch ms: what the counts begin with, later than
 *   the range where that holds too much
 */
export async function summarizeLetters(scanHour, range, { onHour, mostLetters = MOST_LETTERS } = {}) {
  /** @type {HourCount[]} */
  const hours = [];
  let read = 0;
  for (const part of hoursOf(range)) {
    if (read >= mostLetters) return { hours, from: part.to };
    const hour = bucketOf(part.from);
    onHour?.(hour);
    /** @type {HourCount} */
    const count = { hour, letters: 0, codes: {} };
    await scanHour(part, ({ codes }) => {
      count.letters++;
      addCodes(count.codes, codes);
    });
    if (count.letters > 0) hours.push(count);
    read += count.letters;
  }
  return { hours, from: range.from };
}

/**
 * The parts of a range that lie in one hour each, lazily.
 *
 * @param {Range} range
 * @param {'newest' | 'oldest'} [first]
 * @returns {Generator<Range, void>}
 */
export function* hoursOf({ from, to }, first = 'newest') {
  if (from >= to) return;
  const [oldest, newest] = [bucketOf(from), bucketOf(to - 1)];
  for (let done = 0; done <= newest - oldest; done += HOUR_MS) {
    const hour = first === 'newest' ? newest - done : oldest + done;
    yield { from: Math.max(from, hour), to: Math.min(to, hour + HOUR_MS) };
  }
}

/** @param {Record<string, number>} sum is changed @param {Record<string, number>} codes */
export function addCodes(sum, codes) {
  for (const [code, count] of Object.entries(codes)) sum[code] = (sum[code] ?? 0) + count;
}
