import { MillraceError } from '../../common/errors.ts';
import type { MeasurementCounts } from '../observability/process-stats.ts';
import type { Refusals } from '../store/dead-letters/writes.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import { refusalOf } from './decode/refusals.ts';

/**
 * The result of measurements for a client that waits for the answer. Refusals are returned and do not become a dead letter.
 */
export interface IngestResult {
  /** number of committed measurements */
  accepted: number;
  refused: Refusals;
}

/** Codes of errors that the message did not cause, so they do not refuse the message. */
const NOT_REFUSALS = new Set(['unavailable', 'not_replayable']);

/** @param batch a batch whose good measurements are committed */
export const resultOf = ({ counts, refused }: MessageBatch): IngestResult => ({
  accepted: counts.samples,
  refused,
});

/** The counts of a message that is refused as a whole. The number of its measurements is unknown. */
export const ONE_REFUSED: MeasurementCounts = { received: 1, stored: 0, merged: 0, refused: 1, skipped: 0 };

/**
 * @returns an error that refuses the whole message becomes a refusal with index -1
 * @throws {MillraceError} `unavailable`: this process ends; `not_replayable`; and unexpected errors
 */
export async function resultOrRefusal(work: () => Promise<IngestResult>): Promise<IngestResult> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MillraceError) || NOT_REFUSALS.has(error.code)) throw error;
    return { accepted: 0, refused: [refusalOf(error.code, error)] };
  }
}

export const notReplayable = (reason: string) =>
  new MillraceError('not_replayable', `The dead letter cannot be replayed. ${reason}`);
