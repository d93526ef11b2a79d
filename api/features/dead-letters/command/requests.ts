import type { z } from 'zod';
import type { ApiClient } from '../../../../common/api-client.ts';
import type { SCHEMAS } from '../schemas.ts';
import type { Range } from './arguments.ts';

export type DeadLetter = z.infer<typeof SCHEMAS.DeadLetter>;
type Page = z.infer<typeof SCHEMAS.DeadLetterPage>;
type Summary = z.infer<typeof SCHEMAS.DeadLetterSummary>;

/** Reads all pages, newest first. */
export async function* deadLettersOf(
  api: ApiClient,
  query: Record<string, string | number | undefined>,
): AsyncGenerator<DeadLetter, void> {
  let cursor: string | undefined;
  do {
    const page: Page = await api.call('GET', '/dead-letters', { query: { ...query, cursor } });
    yield* page.items;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

/** @returns hours: the newest first, without empty ones; `from` and `to`: epoch ms, cut to the retention of dead letters */
export async function summaryOf(api: ApiClient, { from, to }: Range) {
  const hours: Summary['items'] = [];
  const ends: number[] = [];
  let reached: number;
  let end = to;
  do {
    // An answer may not reach `from`. The next one continues there.
    const answer: Summary = await api.call('GET', '/dead-letters/summary', { query: { from, to: end } });
    hours.push(...answer.items);
    ends.push(Date.parse(answer.to));
    reached = Date.parse(answer.from);
    end = reached;
  } while (reached > from && reached < Number(ends.at(-1)));
  return { hours, from: reached, to: Number(ends[0]) };
}

export const NOTHING = 'Nothing was refused in this range.';

export const countText = (count: number) => (count === 1 ? '1 dead letter' : `${count} dead letters`);
