import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { Refusal } from '../../../common/errors.ts';
import type { Identity } from '../../../schema/ids.ts';
import type { Core } from '../../feature.ts';
import type { CorrectionRequest } from '../../ingest/correction-log.ts';
import type { Submitted } from '../../ingest/handlers/index.ts';
import type { Submissions } from '../../ingest/submission.ts';
import { sumOf } from '../../observability/index.ts';
import type { DecodedLines, LineRefusal } from './decoder.ts';

export interface LineResult {
  accepted: number;
  /** in order of lines, at most one for each line and code */
  refused: LineRefusal[];
  refusedLines: number;
  decoded: DecodedLines;
}

type StoringCore = Pick<Core, 'ingest' | 'corrections'> & {
  context: Pick<Core['context'], 'metrics'>;
};

/** Devices of one request. Each needs at least one request to the database. */
const DEVICES_AT_ONCE = 64;

/** Stores the lines of a post that can be stored. `replacing`: they replace stored values. @throws as `submit` of ingest, and the errors of `decode` */
export const storeLines = (
  core: StoringCore,
  submission: Parameters<Submissions['admit']>[0],
  decode: (message: Submitted) => DecodedLines,
  replacing: CorrectionRequest | null = null,
): Promise<LineResult> =>
  core.ingest.submissions.admit(submission, (message) => settle(core, message, decode, replacing));

async function settle(
  { ingest, corrections, context: { metrics } }: StoringCore,
  message: Submitted,
  decode: (message: Submitted) => DecodedLines,
  replacing: CorrectionRequest | null,
): Promise<LineResult> {
  const began = performance.now();
  const decoded = decode(message);
  const { devices, refused, skipped } = decoded;
  await forEachConcurrently(DEVICES_AT_ONCE, devices, async ([name, batches]) => {
    for (const batch of batches) {
      const replace = replacing && ((device: Identity) => corrections.replaceBatch(device, batch, replacing));
      await ingest.submissions.storeBatch(name, batch, message, replace ?? undefined);
    }
  });
  const batches = [...devices.values()].flat();
  const accepted = batches.reduce((sum, { counts }) => sum + counts.samples, 0);
  const all = [...refused, ...batches.flatMap((batch) => batch.refused.map(toLineRefusal))];
  const refusedLines = new Set(all.map(({ line }) => line)).size;
  const result = { accepted, refused: eachOnce(all), refusedLines, decoded };
  metrics.skipped.inc(skipped);
  const counts = sumOf([
    ...batches.map((batch) => batch.measurementCounts()),
    { received: refused.length + skipped, stored: 0, merged: 0, refused: refused.length, skipped },
  ]);
  return ingest.measurements.noteAnswered(result, counts, began);
}

/** The index of the refusal is the number of a line. */
const toLineRefusal = ({ index, ...refusal }: Refusal): LineRefusal => ({ line: index, ...refusal });

/** One refusal for each code of a line, in order of lines. */
function eachOnce(refusals: LineRefusal[]): LineRefusal[] {
  const byLine = new Map(refusals.map((refusal) => [`${refusal.line} ${refusal.code}`, refusal]));
  return [...byLine.values()].sort((one, other) => one.line - other.line);
}
