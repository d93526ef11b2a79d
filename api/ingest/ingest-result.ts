import { MillraceError } from '../../common/errors.js';
import { refusalOf } from './decode/refusals.js';

/** @import { MeasurementCounts } from '../observability/process-stats.js' */
/** @import { Refusals } from '../store/dead-letters/writes.js' */
/** @import { MessageBatch } from './decode/message-batch.js' */

/**
 * The result of measurements for a client that waits for the answer. Refusals are returned and do not become a dead letter.
 *
 * @typedef {object} IngestResult
 * @property {number} accepted number of committed measurements
 * @property {Refusals} refused
 */

/** Codes of errors that the message did not cause, so they do not refuse the message. */
const NOT_REFUSALS = new Set(['unavailable', 'not_replayable']);

/** @param {MessageBatch} batch a batch whose good measurements are committed @returns {IngestResult} */
export const resultOf = ({ counts, refused }) => ({ accepted: counts.samples, refused });

/**
 * The counts of a message that is refused as a whole. The number of its measurements is unknown.
 *
 * @type {MeasurementCounts}
 */
export const ONE_REFUSED = { received: 1, stored: 0, merged: 0, refused: 1, skipped: 0 };

/**
 * @param {() => Promise<IngestResult>} work
 * @returns {Promise<IngestResult>} an error that refuses the whole message becomes a refusal with index -1
 * @throws {MillraceError} `unavailable`: this process ends; `not_replayable`; and unexpected errors
 */
export async function resultOrRefusal(work) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MillraceError) || NOT_REFUSALS.has(error.code)) throw error;
    return { accepted: 0, refused: [refusalOf(error.code, error)] };
  }
}

/** @param {string} reason */
export const notReplayable = (reason) =>
  new MillraceError('not_replayable', `The dead letter cannot be replayed. ${reason}`);
