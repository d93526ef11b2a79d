import { MillraceError, type Refusal } from '../../../../common/errors.ts';
import { shortened } from '../../../../common/printable.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { addCodes, type Codes, codesText } from '../codes.ts';
import type { CommandParts } from './index.ts';
import { countText, type DeadLetter, deadLettersOf, NOTHING, summaryOf } from './requests.ts';

/**
 * Replays the given dead letters, or all of a range, one after the other. It begins with the oldest, so that a birth message precedes the
 * measurements that need it.
 * @throws `not_all_replayed`
 */
export async function replay(parts: CommandParts) {
  const { api, given, statusLine, print } = parts;
  const report = new Report();
  let isStopped = false;
  // The report shows how far the command came.
  process.once('SIGINT', () => {
    isStopped = true;
  });
  try {
    for await (const { id, topic } of given.ids.length > 0
      ? given.ids.map(ofId)
      : deadLettersOfRange(parts)) {
      if (isStopped) break;
      const title = [id, topic].filter(Boolean).map(shortened).join('  ');
      try {
        const path = `/dead-letters/${encodeURIComponent(id)}/replay`;
        report.replayed(title, await api.call<Result>('POST', path));
      } catch (error) {
        report.failed(title, error);
      }
      statusLine.update(`replayed ${report.progress}`);
    }
  } finally {
    if (report.hasBegun) for (const line of report.lines()) print(line);
  }
  if (isStopped) throw new MillraceError('not_all_replayed', 'Stopped before the end.');
  if (!report.hasBegun) print(NOTHING);
  if (!report.isComplete)
    throw new MillraceError(
      'not_all_replayed',
      'The dead letters above keep the measurements that are not stored.',
    );
}

type Chosen = Pick<DeadLetter, 'id' | 'topic'>;

const ofId = (id: string): Chosen => ({ id, topic: '' });

/** Oldest first. The API lists the newest first, so the ids of one hour are in memory. */
async function* deadLettersOfRange({ api, given }: CommandParts): AsyncGenerator<Chosen, void> {
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

type Result = { accepted: number; refused?: Refusal[] };

/** The report lists this many incomplete replays. Further ones are only counted. */
const MAX_LISTED = 20;

class Report {
  #listed: string[] = [];
  #refusedAgain: Codes = {};
  #replayed = 0;
  #stored = 0;
  #incomplete = 0;
  #failed = 0;

  get hasBegun() {
    return this.#replayed > 0;
  }

  get isComplete() {
    return this.#incomplete === 0;
  }

  get progress() {
    return `${countText(this.#replayed)}: ${this.#stored} stored`;
  }

  replayed(title: string, { accepted, refused = [] }: Result) {
    this.#replayed++;
    this.#stored += accepted;
    if (refused.length === 0) return;
    const codes: Codes = {};
    for (const { code } of refused) addCodes(codes, { [code]: 1 });
    addCodes(this.#refusedAgain, codes);
    this.#list(`${title}  refused again: ${codesText(codes)}`);
  }

  /** @throws the error, if it concerns other dead letters as well */
  failed(title: string, error: unknown) {
    if (!(error instanceof MillraceError)) throw error;
    if (Array.isArray(error.details?.['refused'])) return this.replayed(title, error.details as Result);
    if (error.code !== 'not_found' && error.code !== 'not_replayable') throw error;
    this.#replayed++;
    this.#failed++;
    this.#list(`${title}  ${error.message}`);
  }

  lines(): string[] {
    const more = this.#incomplete > MAX_LISTED ? [`… and ${this.#incomplete - MAX_LISTED} more`] : [];
    const codes = codesText(this.#refusedAgain);
    const refused = codes && `, refused again: ${codes}`;
    const failures = this.#failed > 0 ? `, ${countText(this.#failed)} that could not be replayed` : '';
    return [...this.#listed, ...more, `${this.progress}${refused}${failures}`];
  }

  #list(line: string) {
    this.#incomplete++;
    if (this.#incomplete <= MAX_LISTED) this.#listed.push(line);
  }
}
