import { describe, expect, test } from '@jest/globals';
import { Problem } from '../../../../../web/api/request.ts';
import type { Page } from '../../../../../web/api/types.ts';
import type { DeadLetter } from '../../../../../web/features/dead-letters/api.ts';
import {
  collect,
  isStored,
  MOST_AT_ONCE,
  type Replayed,
  replayAll,
  sumReplays,
} from '../../../../../web/features/dead-letters/replay.tsx';

const deadLetterOf = (number: number, more?: Partial<DeadLetter>): DeadLetter => ({
  id: `id-${number}`,
  ts: '2026-11-21T00:00:00.000Z',
  device: 'd',
  topic: 'iot/v1/d/measurements',
  codes: { malformed: 1 },
  refused: [],
  content_type: null,
  size: 2,
  payload_base64: 'e30=',
  ...more,
});

/** @param all newest first, the order in which the API returns its pages */
const pagesOf =
  (all: DeadLetter[]) =>
  async ({ cursor, limit }: Record<string, unknown>): Promise<Page<DeadLetter>> => {
    const from = Number(cursor ?? 0);
    const end = from + Number(limit);
    return { items: all.slice(from, end), next: end < all.length ? String(end) : null };
  };

const { signal } = new AbortController();
const onCount = () => {};

test('Bulk replay: 230 dead letters on several pages of the API: collected in order of time, the oldest first', async () => {
  const all = Array.from({ length: 230 }, (_, index) => deadLetterOf(index));
  const counts: number[] = [];
  const collected = await collect(pagesOf(all), {}, { signal, onCount: (count) => counts.push(count) });
  expect(collected.heads.map(({ id }) => id)).toEqual(all.map(({ id }) => id).reverse());
  expect(collected).toMatchObject({ incomplete: 0, hasMore: false });
  expect(counts).toEqual([100, 200, 230]);
});

test('Bulk replay: payload not kept, or only in part: the dead letter is left out and counted', async () => {
  const all = [
    deadLetterOf(1, { size: null, payload_base64: null }),
    deadLetterOf(2, { size: 70_000 }),
    deadLetterOf(3),
    deadLetterOf(4, { size: 0, payload_base64: '' }),
  ];
  const { heads, incomplete } = await collect(pagesOf(all), {}, { signal, onCount });
  expect([heads.map(({ id }) => id), incomplete]).toEqual([['id-4', 'id-3'], 2]);
});

test.each([
  [MOST_AT_ONCE, false],
  [MOST_AT_ONCE + 1, true],
])(
  'Bulk replay: %i dead letters, limit reached: some remain for a further replay: %s',
  async (length, hasMore) => {
    const all = Array.from({ length }, (_, index) => deadLetterOf(index));
    const collected = await collect(pagesOf(all), {}, { signal, onCount });
    expect([collected.heads.length, collected.hasMore]).toEqual([MOST_AT_ONCE, hasMore]);
  },
);

describe('Bulk replay: replay', () => {
  const heads = [1, 2, 3].map((number) => deadLetterOf(number));
  const busy = new Problem({ title: 'busy', code: 'busy', status: 429 });
  const gone = new Problem({ title: 'gone', code: 'not_found', status: 404 });

  /** @param answer may throw */
  async function run(
    answer: (id: string, attempt: number) => { accepted: number; refused: { index: number; code: string }[] },
    stop: AbortSignal = signal,
  ) {
    const attempts: Map<string, number> = new Map();
    const replayed: Replayed[] = [];
    const replay = async (id: string) => {
      const attempt = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, attempt);
      return answer(id, attempt);
    };
    await replayAll(replay, heads, { signal: stop, onReplayed: (each) => replayed.push(each), retryMs: 1 });
    return { replayed, attempts };
  }

  test('Bulk replay: one dead letter is stored, one is refused again, one fails: the sums show each result', async () => {
    const { replayed } = await run((id) => {
      if (id === 'id-3') throw gone;
      return id === 'id-1'
        ? { accepted: 2, refused: [] }
        : { accepted: 1, refused: [{ index: 0, code: 'malformed' }] };
    });
    expect(replayed.map(isStored)).toEqual([true, false, false]);
    expect(sumReplays(replayed)).toEqual({ accepted: 3, refused: 1, failed: 1 });
  });

  test('Bulk replay: the API answers busy twice: the dead letter is sent a third time, and stored', async () => {
    const { replayed, attempts } = await run((id, attempt) => {
      if (id === 'id-2' && attempt < 3) throw busy;
      return { accepted: 1, refused: [] };
    });
    expect(attempts.get('id-2')).toBe(3);
    expect(sumReplays(replayed)).toEqual({ accepted: 3, refused: 0, failed: 0 });
  });

  test('Bulk replay: the API always answers busy for one dead letter: five retries, then the next dead letters are replayed', async () => {
    const { replayed, attempts } = await run((id) => {
      if (id === 'id-1') throw busy;
      return { accepted: 1, refused: [] };
    });
    expect(attempts.get('id-1')).toBe(6);
    expect(sumReplays(replayed)).toEqual({ accepted: 2, refused: 0, failed: 1 });
  });

  test('Bulk replay: the user stops the replay: no request is sent after the running request', async () => {
    const stop = new AbortController();
    const { replayed } = await run(() => {
      stop.abort();
      return { accepted: 1, refused: [] };
    }, stop.signal);
    expect(replayed).toHaveLength(1);
  });
});
