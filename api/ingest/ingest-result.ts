import { MillraceError } from '../../common/errors.ts';
import type { MeasurementCounts } from '../observability/process-stats.ts';
import type { Refusals } from '../store/dead-letters.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import { refusalOf } from './decode/refusals.ts';

/** Refusals are returned to the client that waits, and do not become a dead letter. */
export interface IngestResult {
  accepted: number;
  refused: Refusals;
}

/** The message did not cause these errors, so they do not refuse it. */
const NOT_REFUSALS = new Set(['unavailable', 'not_replayable']);

/** The good measurements of the batch must be committed. */
export const resultOf = ({ counts, refused }: MessageBatch): IngestResult => ({
  accepted: counts.samples,
  refused,
});

/** The number of measurements in a message that is refused as a whole is unknown. */
export const ONE_REFUSED: MeasurementCounts = { received: 1, stored: 0, merged: 0, refused: 1, skipped: 0 };

/**
 * An error that refuses the whole message becomes a refusal with index -1.
 * @throws `unavailable`: this process ends; `not_replayable`; and unexpected errors
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
