import type { ApiClient } from '../../../../common/api-client.ts';
import { MillraceError, type Refusal } from '../../../../common/errors.ts';
import { shortened } from '../../../../common/printable.ts';
import { listenForStop } from '../../../../common/stop-signal.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { addCodes, type Codes, codesText } from '../codes.ts';
import type { CommandParts } from './index.ts';
import { countText, type DeadLetter, deadLettersOf, NOTHING, summaryOf } from './requests.ts';

/** The report lists this many incomplete replays. Further ones are only counted. */
const MAX_LISTED = 20;

/**
 * Replays the given dead letters, or all of a range, one after the other. It begins with the oldest, so that a birth message precedes the
 * measurements that need it.
 * @throws `not_all_replayed`
 */
export async function replay(parts: CommandParts) {
  const { api, given, statusLine, print } = parts;
  const incomplete: string[] = [];
  const refusedAgain: Codes = {};
  let [replayed, stored, failed] = [0, 0, 0];
  const progress = () => `${countText(replayed)}: ${stored} stored`;
  let isStopped = false;
  // The report shows how far the command came.
  listenForStop(() => {
    isStopped = true;
  });
  try {
    for await (const { id, topic } of given.ids.length > 0 ? given.ids.map(withId) : readRange(parts)) {
      if (isStopped) break;
      const { accepted, refused, problem } = await replayOne(api, id);
      const codes: Codes = {};
      for (const { code } of refused) addCodes(codes, { [code]: 1 });
      addCodes(refusedAgain, codes);
      replayed++;
      stored += accepted;
      if (problem) failed++;
      const reason = problem ?? (refused.length > 0 && `refused again: ${codesText(codes)}`);
      if (reason) incomplete.push([id, topic].filter(Boolean).map(shortened).concat(reason).join('  '));
      statusLine.update(`replayed ${progress()}`);
    }
  } finally {
    for (const line of incomplete.slice(0, MAX_LISTED)) print(line);
    if (incomplete.length > MAX_LISTED) print(`… and ${incomplete.length - MAX_LISTED} more`);
    const again = codesText(refusedAgain) && `, refused again: ${codesText(refusedAgain)}`;
    const failures = failed > 0 ? `, ${countText(failed)} that could not be replayed` : '';
    if (replayed > 0) print(`${progress()}${again}${failures}`);
  }
  const problem = isStopped
    ? 'Stopped before the end.'
    : incomplete.length > 0 && 'The dead letters above keep the measurements that are not stored.';
  if (problem) throw new MillraceError('not_all_replayed', problem);
  if (replayed === 0) print(NOTHING);
}

type Chosen = Pick<DeadLetter, 'id' | 'topic'>;

const withId = (id: string): Chosen => ({ id, topic: '' });

/** Oldest first. The API lists the newest first, so the ids of one hour are in memory. */
async function* readRange({ api, given }: CommandParts): AsyncGenerator<Chosen, void> {
  const { hours, from, to } = await summaryOf(api, given.range);
  for (const { hour } of hours.reverse()) {
    const begin = Date.parse(hour);
    const range = { from: Math.max(from, begin), to: Math.min(to, begin + HOUR_MS) };
    const found: Chosen[] = [];
    for await (const { id, topic } of deadLettersOf(api, { ...range, ...given.filter, limit: 1000 }))
      found.push({ id, topic });
    yield* found.reverse();
  }
}

type Result = { accepted: number; refused: Refusal[]; problem?: string };

/** @throws an error that concerns other dead letters as well */
async function replayOne(api: ApiClient, id: string): Promise<Result> {
  try {
    const path = `/dead-letters/${encodeURIComponent(id)}/replay`;
    return { refused: [], ...(await api.call<{ accepted: number }>('POST', path)) };
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    if (Array.isArray(error.details?.['refused'])) return error.details as Result;
    if (error.code !== 'not_found' && error.code !== 'not_replayable') throw error;
    return { accepted: 0, refused: [], problem: error.message };
  }
}
