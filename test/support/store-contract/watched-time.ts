import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Store } from '../../../api/store/index.ts';
import type { WatchedSpan } from '../../../api/store/watched-time.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { ContractSubject } from './cells.ts';

/** The years of the tests, later than all spans that processes write to this database. */
const WRITTEN = 2100;
const PAGED = 2200;
const EMPTY = 2300;

const SECOND_MS = 1000;

export function describeWatchedTime(subject: () => ContractSubject) {
  let store: Store['watchedTime'];
  beforeAll(() => {
    store = subject().store.watchedTime;
  });

  async function read(from: number, to: number): Promise<WatchedSpan[]> {
    const spans = [];
    for await (const page of store.pages({ from, to })) spans.push(...page);
    return spans;
  }

  describe('watched time', () => {
    test('Store: watched time of two processes: extending a span adds no row; spans are read in order across years', async () => {
      const end = Date.UTC(WRITTEN + 1, 0, 1);
      const first = { from: end - 2 * HOUR_MS, until: end - HOUR_MS };
      const last = { from: end - 30 * SECOND_MS, until: end };
      const next = { from: end, until: end + 10 * SECOND_MS };
      const other = { from: end, until: end + HOUR_MS };
      await store.write('a', { ...first, until: first.from });
      await store.write('a', first);
      await store.write('a', next);
      await store.write('a', last);
      await store.write('b', other);
      expect(await read(first.from, end + DAY_MS)).toEqual([first, last, next, other]);
      // The end is not included. A span that begins earlier on the day of the start may reach into the range.
      expect(await read(end - 1, end)).toEqual([first, last]);
      expect(await read(end, end + DAY_MS)).toEqual([next, other]);
      expect(await read(end + DAY_MS, end + 60 * DAY_MS)).toEqual([]);
    });

    test('Store: watched time with more spans than a page: all spans are read', async () => {
      const begin = Date.UTC(PAGED, 5, 15);
      const spans = Array.from({ length: 250 }, (_, index) => {
        const from = begin + index * 60 * SECOND_MS;
        return { from, until: from + SECOND_MS };
      });
      await Promise.all(spans.map((span) => store.write('a', span)));
      expect(await read(begin, begin + DAY_MS)).toEqual(spans);
    });

    test('Store: first span of watched time in a range: found in a later month; null if the range has no span', async () => {
      const from = Date.UTC(PAGED, 2, 3);
      expect(await store.first({ from, to: Date.UTC(PAGED, 11, 1) })).toBe(Date.UTC(PAGED, 5, 15));
      expect(await store.first({ from, to: Date.UTC(PAGED, 5, 1) })).toBe(null);
      expect(await store.first({ from: Date.UTC(EMPTY, 0, 1), to: Date.UTC(EMPTY, 11, 1) })).toBe(null);
    });
  });
}
