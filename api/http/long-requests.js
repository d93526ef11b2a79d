import { MillraceError } from '../../common/errors.js';

/** @import { Response } from 'express' */

/**
 * How much of what is costly a process does at once for all who ask, whoever they are: each export reads ahead for its reader, each
 * series may read a year, and a stream is written to for as long as it lasts.
 */
export const MOST_AT_ONCE = { streams: 2000, exports: 16, series: 128 };

/**
 * @param {number} most
 * @param {string} says what there are too many of
 */
export function createConcurrencyLimit(most, says) {
  let taken = 0;
  return {
    /**
     * @returns {() => void} gives the place back, however often it is called
     * @throws {MillraceError} `busy`
     */
    take() {
      if (taken >= most) throw new MillraceError('busy', says);
      taken++;
      let isHeld = true;
      return () => {
        if (isHeld) taken--;
        isHeld = false;
      };
    },
  };
}

/** @param {typeof MOST_AT_ONCE} most */
export const createConcurrencyLimits = (most) => ({
  streams: createConcurrencyLimit(
    most.streams,
    'As many follow live values as one process serves; try again later.',
  ),
  exports: createConcurrencyLimit(
    most.exports,
    'As many exports are under way as one process makes; try again later.',
  ),
  series: createConcurrencyLimit(
    most.series,
    'As many series are being read as one process reads; try again later.',
  ),
});

/** @typedef {ReturnType<typeof createConcurrencyLimit>} Places */

/**
 * Does something for a client for as long as he is there: when he goes away, `signal` aborts, and that is all.
 *
 * @param {Response} res
 * @param {(signal: AbortSignal) => Promise<void>} work
 */
export async function abortOnClose(res, work) {
  const gone = new AbortController();
  // Before the end of the answer: nobody is there any more to hear the rest.
  res.once('close', () => gone.abort());
  try {
    await work(gone.signal);
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}
