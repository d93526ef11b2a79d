import { MillraceError } from '../../../../common/errors.ts';
import { shortened } from '../../../../common/printable.ts';
import { formatTime } from '../../../../common/times.ts';
import { uuidText } from '../../../../schema/ids.ts';
import type { IngestResult } from '../../../ingest/ingest-result.ts';
import type { StoredDeadLetter } from '../../../store/dead-letters.ts';
import { addCodes } from '../store.ts';
import type { CommandParts } from './index.ts';
import { codesText, countText, matchingIds, NOT_FOUND } from './list.ts';

/** Each replay holds a dead letter of up to 64 KiB in memory. */
const CONCURRENT_REPLAYS = 16;

/**
 * Replays the given dead letters, or all of a range. It begins with the oldest, so that a birth message precedes the
 * measurements that need it.
 * @throws `not_all_replayed`
 */
export async function replay(parts: CommandParts) {
  const { store, ingest, given, statusLine, print } = parts;
  const report = createReport();
  const stopping = new AbortController();
  // After SIGINT, the command finishes running replays, unless the database is unavailable. The report shows how far the command came.
  process.once('SIGINT', () => {
    stopping.abort();
    ingest.abort();
  });

  async function replayOne(deadLetter: StoredDeadLetter) {
    try {
      report.replayed(deadLetter, await ingest.replay(deadLetter));
    } catch (error) {
      if (!(error instanceof MillraceError)) throw error;
      report.failed(deadLetter, error);
    }
    const waiting = ingest.isStuck ? ' · the database does not take writes; waiting' : '';
    statusLine.update(`replayed up to ${formatTime(deadLetter.receivedAt)} · ${report.progress()}${waiting}`);
  }

  async function replayBatch(ids: string[]) {
    // Read the whole batch before its first replay, so that the replays start in order.
    const deadLetters = await Promise.all(ids.map(store.deadLetters.find));
    await Promise.all(
      deadLetters.map((deadLetter, index) =>
        deadLetter ? replayOne(deadLetter) : report.missing(`${ids[index]}`),
      ),
    );
  }

  async function replayAll(ids: string[]) {
    for (let from = 0; from < ids.length && !stopping.signal.aborted; from += CONCURRENT_REPLAYS) {
      await replayBatch(ids.slice(from, from + CONCURRENT_REPLAYS));
    }
  }

  await ingest.start();
  if (given.ids.length > 0) await replayAll(given.ids);
  else {
    for await (const ids of matchingIds(parts, 'oldest')) {
      await replayAll(ids.map(uuidText));
      if (stopping.signal.aborted) break;
    }
  }
  for (const line of report.lines()) print(line);
  if (stopping.signal.aborted) throw new MillraceError('not_all_replayed', 'Stopped before the end.');
  if (!report.isComplete()) {
    throw new MillraceError(
      'not_all_replayed',
      'The dead letters above keep the measurements that are not stored.',
    );
  }
}

/** The report lists this many incomplete replays. Further ones are only counted. */
const MAX_LISTED = 20;

function createReport() {
  const listed: string[] = [];
  const refusedAgain: Record<string, number> = {};
  let replayed = 0;
  let stored = 0;
  let incomplete = 0;
  let failed = 0;

  /** `line`: about a dead letter that is not stored completely. */
  function listIncomplete(line: string) {
    incomplete++;
    if (incomplete <= MAX_LISTED) listed.push(line);
  }

  const titleOf = ({ id, topic }: StoredDeadLetter) => `${uuidText(id)}  ${shortened(topic)}`;
  const progress = () => `${countText(replayed)}: ${stored} stored`;

  return {
    replayed(deadLetter: StoredDeadLetter, { accepted, refused }: IngestResult) {
      replayed++;
      stored += accepted;
      if (refused.length === 0) return;
      const codes: Record<string, number> = {};
      for (const { code } of refused) addCodes(codes, { [code]: 1 });
      addCodes(refusedAgain, codes);
      listIncomplete(`${titleOf(deadLetter)}  refused again: ${codesText(codes)}`);
    },
    failed(deadLetter: StoredDeadLetter, error: Error) {
      replayed++;
      failed++;
      listIncomplete(`${titleOf(deadLetter)}  ${error.message}`);
    },
    missing(id: string) {
      failed++;
      listIncomplete(`${shortened(id)}  ${NOT_FOUND}`);
    },
    isComplete: () => incomplete === 0,
    progress,
    lines(): string[] {
      const more = incomplete > listed.length ? [`… and ${incomplete - listed.length} more`] : [];
      const refused =
        Object.keys(refusedAgain).length > 0 ? `, refused again: ${codesText(refusedAgain)}` : '';
      const failures = failed > 0 ? `, ${countText(failed)} that could not be replayed` : '';
      return [...listed, ...more, `${progress()}${refused}${failures}`];
    },
  };
}
