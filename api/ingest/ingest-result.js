import { MillraceError } from '../../common/errors.js';
import { refusalOf } from './decode/refusals.js';

/** @import { Refusals } from '../store/dead-letters/writes.js' */
/** @import { MessageBatch } from './decode/message-batch.js' */

/**
 * What became of measurements for somebody who waits for the answer: what was refused is told, and no dead letter.
 *
 * @typedef {object} IngestResult
 * @property {number} accepted measurements that are committed
 * @property {Refusals} refused
 */

/** What says nothing of the measurements, so refuses none. */
const NOT_OF_THE_MESSAGE = new Set(['unavailable', 'not_replayable']);

/** @param {MessageBatch} batch whose good measurements are committed @returns {IngestResult} */
export const resultOf = ({ counts, refused }) => ({ accepted: counts.samples, refused });

/**
 * @param {() => Promise<IngestResult>} work
 * @returns {Promise<IngestResult>} with what refuses a message as a whole as a refusal of index -1
 * @throws {MillraceError} `unavailable`: this process ends; `not_replayable`; and whatever is a defect
 */
export async function resultOrRefusal(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MillraceError) || NOT_OF_THE_MESSAGE.has(error.code)) throw error;
    return { accepted: 0, refused: [refusalOf(error.code, error)] };
  }
}

/** @param {string} why */
export const notReplayable = (why) =>
  new MillraceError('not_replayable', `The letter cannot be replayed. ${why}`);
