import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { MillraceError } from '../../common/errors.js';
import { LEDGER_VERSION } from './format.js';

/** @import { SentEpisode } from '../faults/episodes.js' */

/** @typedef {{ sensor: string, times: number[], values: number[] }} LedgerSeries */

/**
 * An entry of a ledger. `message` counts over all runs in the file, from 1. `text` is the line of the entry.
 *
 * @typedef {{ kind: 'sent', message: number, device: string, series: LedgerSeries[], text: string }
 *   | { kind: 'acknowledged', message: number }
 *   | { kind: 'episode', device: string, episode: SentEpisode }} LedgerEntry
 */

/**
 * Reads a ledger of any size as a stream. If a run was killed, its incomplete last line is ignored.
 *
 * @param {string} path
 * @returns {AsyncGenerator<LedgerEntry>}
 * @throws {MillraceError} `failed` for a file that is no ledger or cannot be read
 */
export async function* readLedger(path) {
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

/** @param {string} path @returns {AsyncGenerator<string>} */
async function* linesOf(path) {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    yield* lines;
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new MillraceError('failed', `The ledger cannot be read: ${message}`, { cause: error });
  } finally {
    lines.close();
  }
}

/**
 * @param {string} text
 * @returns {{ ledger: number } | { sent: number, device: string, series: LedgerSeries[] } | { acknowledged: number }
 *   | { episode: SentEpisode, device: string } | null}
 *   null: the text is no complete line of a ledger
 */
function parse(text) {
  try {
    const line = JSON.parse(text);
    return typeof line === 'object' ? line : null;
  } catch {
    return null;
  }
}

/** @param {string} path @param {number} line */
const broken = (path, line) =>
  new MillraceError('failed', `${path} is no ledger that this version can read: see line ${line}.`);
