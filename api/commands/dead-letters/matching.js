import { compareDeadLetterIds } from '../../store/dead-letters/dead-letter.js';
import { hoursOf } from '../../store/dead-letters/writes.js';

/** @import { CommandParts } from './index.js' */

/**
 * The ids of the letters that a command asks for, hour by hour and in order. No more than an hour's are kept at once.
 *
 * @param {CommandParts} parts
 * @param {'newest' | 'oldest'} first
 * @returns {AsyncGenerator<Buffer[], void>}
 */
export async function* matchingIds({ store, given, statusLine }, first) {
  const { range, code, device } = given;
  for (const part of hoursOf(range, first)) {
    statusLine.update(`looking at ${new Date(part.from).toISOString()}`);
    /** @type {Buffer[]} */
    const ids = [];
    await store.deadLetters.scanHour(part, (head) => {
      if (code !== undefined && !Object.hasOwn(head.codes, code)) return;
      if (device !== undefined && head.device !== device) return;
      ids.push(head.id);
    });
    ids.sort((a, b) => (first === 'newest' ? compareDeadLetterIds(b, a) : compareDeadLetterIds(a, b)));
    if (ids.length > 0) yield ids;
  }
}
