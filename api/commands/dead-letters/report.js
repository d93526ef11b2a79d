import { shortened } from '../../../common/printable.js';
import { uuidText } from '../../../schema/ids.js';
import { addCodes } from '../../store/dead-letters/writes.js';
import { lettersText } from './summary.js';
import { codesText, NO_SUCH_LETTER } from './text.js';

/** @import { IngestResult } from '../../ingest/ingest-result.js' */
/** @import { StoredDeadLetter } from '../../store/dead-letters/dead-letter.js' */

/** Letters that the report names one by one. */
const MOST_NAMED = 20;

/** What became of the letters of one replay. */
export function createReport() {
  /** @type {string[]} */
  const named = [];
  /** @type {Record<string, number>} */
  const again = {};
  let letters = 0;
  let stored = 0;
  let incomplete = 0;
  let failed = 0;

  /** @param {string} line about a letter that is not stored whole */
  function name(line) {
    incomplete++;
    if (incomplete <= MOST_NAMED) named.push(line);
  }

  const titleOf = (/** @type {StoredDeadLetter} */ { id, topic }) => `${uuidText(id)}  ${shortened(topic)}`;
  const progress = () => `${lettersText(letters)}: ${stored} stored`;

  return {
    /** @param {StoredDeadLetter} letter @param {IngestResult} told */
    told(letter, { accepted, refused }) {
      letters++;
      stored += accepted;
      if (refused.length === 0) return;
      /** @type {Record<string, number>} */
      const codes = {};
      for (const { code } of refused) addCodes(codes, { [code]: 1 });
      addCodes(again, codes);
      name(`${titleOf(letter)}  refused again: ${codesText(codes)}`);
    },
    /** @param {StoredDeadLetter} letter @param {Error} error */
    failed(letter, error) {
      letters++;
      failed++;
      name(`${titleOf(letter)}  ${error.message}`);
    },
    /** @param {string} id */
    missing(id) {
      failed++;
      name(`${shortened(id)}  ${NO_SUCH_LETTER}`);
    },
    isComplete: () => incomplete === 0,
    progress,
    /** @returns {string[]} */
    lines() {
      const more = incomplete > named.length ? [`… and ${incomplete - named.length} more`] : [];
      const refusedAgain = Object.keys(again).length > 0 ? `, refused again: ${codesText(again)}` : '';
      const notTried = failed > 0 ? `, ${lettersText(failed)} that could not be replayed` : '';
      return [...named, ...more, `${progress()}${refusedAgain}${notTried}`];
    },
  };
}

/** @typedef {ReturnType<typeof createReport>} Report */
