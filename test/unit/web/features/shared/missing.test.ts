import { expect, test } from '@jest/globals';
import { missingBefore } from '../../../../../web/features/shared/missing.ts';

test('Merged lists: several lists have further pages: complete only after the newest end of a truncated list', () => {
  const page = (next: string | null, ...items: string[]) => ({ items, next });
  const [first, second] = ['2026-11-21T12:00:00.000Z', '2026-11-21T13:00:00.000Z'];
  const missing = (...pages: ReturnType<typeof page>[]) => missingBefore(pages, (ts) => ts);
  expect(missing(page(null, second, first), page(null))).toBeNull();
  expect(missing(page('a', second, first), page(null))).toBe(Date.parse(first));
  expect(missing(page('a', second, first), page('b', second))).toBe(Date.parse(second));
});
