import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { MillraceError } from '../../common/errors.ts';
import type { SentEpisode } from '../faults/episodes.ts';
import { LEDGER_VERSION } from './format.ts';

type LedgerSeries = { sensor: string; times: number[]; values: number[] };

/** `message` counts over all runs in the file, from 1. `text` is the line of the entry. */
type LedgerEntry =
  | { kind: 'sent'; message: number; device: string; series: LedgerSeries[]; text: string }
  | { kind: 'acknowledged'; message: number }
  | { kind: 'episode'; device: string; episode: SentEpisode };

/**
 * Streams a ledger of any size. If a run was killed, its incomplete last line is ignored.
 * @throws `failed` for a file that is no ledger or cannot be read
 */
export async function* readLedger(path: string): AsyncGenerator<LedgerEntry> {
  // Every run in the file numbers its messages from 1.
  let before = 0;
  let newest = 0;
  let lineNumber = 0;
  let tornAt = 0;
  for await (const text of linesOf(path)) {
    lineNumber += 1;
    const line = parse(text);
    const begins = line !== null && 'ledger' in line;
    if ((lineNumber === 1 || tornAt > 0) && !begins) throw broken(path, tornAt || 1);
    if (line === null) {
      tornAt = lineNumber;
    } else if ('ledger' in line) {
      if (line.ledger !== LEDGER_VERSION) throw broken(path, lineNumber);
      before = newest;
      tornAt = 0;
    } else if ('sent' in line) {
      newest = before + line.sent;
      yield { kind: 'sent', message: newest, device: line.device, series: line.series, text };
    } else if ('acknowledged' in line) {
      yield { kind: 'acknowledged', message: before + line.acknowledged };
    } else if ('episode' in line) {
      yield { kind: 'episode', device: line.device, episode: line.episode };
    } else {
      throw broken(path, lineNumber);
    }
  }
  if (lineNumber === 0) throw broken(path, 1);
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    yield* lines;
  } catch (error) {
    const { message } = error as Error;
    throw new MillraceError('failed', `The ledger cannot be read: ${message}`, { cause: error });
  } finally {
    lines.close();
  }
}

/** Null: the line is incomplete. */
function parse(
  text: string,
):
  | { ledger: number }
  | { sent: number; device: string; series: LedgerSeries[] }
  | { acknowledged: number }
  | { episode: SentEpisode; device: string }
  | null {
  try {
    const line = JSON.parse(text);
    return typeof line === 'object' ? line : null;
  } catch {
    return null;
  }
}

const broken = (path: string, line: number) =>
  new MillraceError('failed', `${path} is no ledger that this version can read: see line ${line}.`);
