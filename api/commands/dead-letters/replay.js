import { MillraceError } from '../../../common/errors.js';
import { formatTime } from '../../../common/times.js';
import { uuidText } from '../../../schema/ids.js';
import { matchingIds } from './matching.js';
import { createReport } from './report.js';

/** @import { StoredDeadLetter } from '../../store/dead-letters/dead-letter.js' */
/** @import { CommandParts } from './index.js' */

/** Letters under way; each may hold 64 KiB. */
const AT_ONCE = 16;

/**
 * Replays the letters named, or all of a range, the oldest first: a birth comes before what it makes known.
 *
 * @param {CommandParts} parts
 * @throws {MillraceError} `not_all_replayed`
 */
export async function replay(parts) {
  const { store, ingest, given, statusLine, say } = parts;
  const report = createReport();
  const stopping = new AbortController();
  // What is under way is finished, unless the database does not take it; the report tells how far it went.
  process.once('SIGINT', () => {
    stopping.abort();
    ingest.abort();
  });

  /** @param {StoredDeadLetter} letter */
  async function replayOne(letter) {
    try {
      report.told(letter, await ingest.replay(letter));
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      report.failed(letter, error);
    }
    const waiting = ingest.isStuck ? ' · the database does not take writes; waiting' : '';
    statusLine.update(`replayed up to ${formatTime(letter.receivedAt)} · ${report.progress()}${waiting}`);
  }

  /** @param {string[]} ids that were asked for */
  async function replaySome(ids) {
    // All are read before the first is begun, so that they are begun in order.
    const letters = await Promise.all(ids.map(store.deadLetters.find));
    await Promise.all(
      letters.map((letter, at) => (letter ? replayOne(letter) : report.missing(`${ids[at]}`))),
    );
  }

  /** @param {string[]} ids */
  async function replayInTurn(ids) {
    for (let at = 0; at < ids.length && !stopping.signal.aborted; at += AT_ONCE) {
      await replaySome(ids.slice(at, at + AT_ONCE));
    }
  }

  await ingest.start();
  if (given.ids.length > 0) await replayInTurn(given.ids);
  else {
    for await (const ids of matchingIds(parts, 'oldest')) {
      await replayInTurn(ids.map(uuidText));
      if (stopping.signal.aborted) break;
    }
  }
  for (const line of report.lines()) say(line);
  if (stopping.signal.aborted) throw new MillraceError('not_all_replayed', 'Stopped before the end.');
  if (!report.isComplete()) {
    throw new MillraceError('not_all_replayed', 'The letters above keep what is not stored.');
  }
}
