import { describe, expect, test } from '@jest/globals';
import { fillPage, rowsOf, sorted } from '../../../../web/state/lists.ts';

function source(parts: Record<string, { items: number[]; next: string | null }>) {
  const limits: number[] = [];
  return {
    limits,
    ask: async ({ cursor, limit }: { cursor: string | null; limit: number }) => {
      limits.push(limit);
      const part = parts[cursor ?? 'first'];
      if (!part) throw new Error(`nobody gave the cursor ${cursor}`);
      return part;
    },
  };
}

test('Page of a list: the API returns short and empty pages with a cursor: requests go on until the page is full', async () => {
  const { ask, limits } = source({
    first: { items: [1], next: 'a' },
    a: { items: [], next: 'b' },
    b: { items: [2, 3], next: 'c' },
  });
  expect(await fillPage({ cursor: null, limit: 3, ask })).toEqual({ items: [1, 2, 3], next: 'c' });
  expect(limits).toEqual([3, 2, 2]);
});

test('Page of a list: the API returns only empty pages: at most 50 requests, then a cursor to continue', async () => {
  let asked = 0;
  const ask = async () => ({ items: [], next: `${++asked}` });
  const { items, next } = await fillPage({ cursor: 'x', limit: 3, ask });
  expect(items).toEqual([]);
  expect(next).toBe(`${asked}`);
  expect(asked).toBeLessThanOrEqual(50);
});

describe('Rows of a page', () => {
  const page = (...items: number[]) => ({ items, next: null });

  test('Rows of a list: the filter changes after an empty result: null until the API answers, not an empty list', () => {
    expect([rowsOf(null, true), rowsOf(page(), true), rowsOf(page(), false)]).toEqual([null, null, []]);
  });
});

test('Sorting of a list: numbers in names: by value; unknown values: last in both directions', () => {
  const names = ['gate-10', null, 'gate-9', 'Gate-1'];
  const self = (name: string | null) => name;
  expect(sorted(names, self, false)).toEqual(['Gate-1', 'gate-9', 'gate-10', null]);
  expect(sorted(names, self, true)).toEqual(['gate-10', 'gate-9', 'Gate-1', null]);
  expect(sorted([10, 9, null, -1], (one) => one, true)).toEqual([10, 9, -1, null]);
});
