import type { Page } from '../../api/types.ts';

/**
 * Finds the time before which items of several lists may be missing.
 *
 * @param pages pages of several lists, each newest first
 * @param timeOf returns the time of an item in ISO 8601
 * @returns time in epoch ms before which some items are missing; null: no item is missing
 */
export function missingBefore<T>(pages: Page<T>[], timeOf: (item: T) => string): number | null {
  const ends = pages.flatMap(({ items, next }) =>
    next === null ? [] : items.slice(-1).map((oldest) => Date.parse(timeOf(oldest))),
  );
  return ends.length === 0 ? null : Math.max(...ends);
}
