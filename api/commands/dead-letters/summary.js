import { formatTime } from '../../../common/times.js';
import { addCodes } from '../../store/dead-letters/writes.js';
import { codesText } from './text.js';

/** @import { CommandParts } from './index.js' */

/** @param {CommandParts} parts */
export async function summary({ store, given, say, statusLine }) {
  /** @type {Record<string, number>} */
  const codes = {};
  let letters = 0;
  const { hours } = await store.deadLetters.summary(given.range, {
    maxDeadLetters: Number.POSITIVE_INFINITY,
    onHour: (hour) => statusLine.update(`looking at ${formatTime(hour)}`),
  });
  for (const hour of hours) {
    say(`${formatTime(hour.hour)}  ${lettersText(hour.deadLetters)}: ${codesText(hour.codes)}`);
    letters += hour.deadLetters;
    addCodes(codes, hour.codes);
  }
  if (letters === 0) say('Nothing was refused in this range.');
  else say(`in all  ${lettersText(letters)}: ${codesText(codes)}`);
}

/** @param {number} count */
export const lettersText = (count) => (count === 1 ? '1 dead letter' : `${count} dead letters`);
