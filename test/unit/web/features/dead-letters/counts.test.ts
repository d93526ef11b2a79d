import { describe, expect, test } from '@jest/globals';
import {
  binsOf,
  mergeHours,
  RANGES,
  spanOf,
  sumBins,
} from '../../../../../web/features/dead-letters/counts.ts';

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 21, 14, 30);
const hourOf = (at: number, codes: Record<string, number>, deadLetters: number = 1) => ({
  hour: new Date(at).toISOString(),
  dead_letters: deadLetters,
  codes,
});

describe.each(RANGES)('Counts of dead letters: time range $words', (range) => {
  const span = spanOf(range, NOW);

  test('Counts of dead letters: chart of the range: the last bin is the current one, and holds the present time', () => {
    expect(span.to).toBeGreaterThan(NOW);
    expect(span.to - NOW).toBeLessThanOrEqual(range.binMs);
    expect(span.to - span.from).toBe(range.binMs * range.bins);
    expect(span.from % range.binMs).toBe(0);
  });

  test('Counts of dead letters: hourly counts: each hour of the range is counted in one bin, hours outside in no bin', () => {
    const hours = [];
    for (let at = span.from - 2 * HOUR; at < span.to + 2 * HOUR; at += HOUR)
      hours.push(hourOf(at, { malformed: 2, too_old: 1 }));
    const bins = binsOf(hours, span, range.binMs);
    expect(bins).toHaveLength(range.bins);
    for (const bin of bins) {
      const count = range.binMs / HOUR;
      expect(bin).toMatchObject({
        deadLetters: count,
        total: 3 * count,
        codes: { malformed: 2 * count, too_old: count },
      });
    }
    expect(sumBins(bins).deadLetters).toBe((span.to - span.from) / HOUR);
  });
});

test('Counts of dead letters: an API answer covers some hours: the counts of these hours are replaced, earlier hours stay', () => {
  const [a, b, c, d] = [NOW, NOW + HOUR, NOW + 2 * HOUR, NOW + 3 * HOUR];
  const known = [hourOf(d, { malformed: 1 }), hourOf(c, { malformed: 1 }), hourOf(a, { malformed: 1 })];
  const answer = { items: [hourOf(b, { too_old: 5 })], from: new Date(b).toISOString(), to: '' };
  const codesAt = (hours: { hour: string; codes: object }[]) =>
    Object.fromEntries(hours.map(({ hour, codes }) => [Date.parse(hour), codes]));
  expect(codesAt(mergeHours(known, answer, d))).toEqual({
    [a]: { malformed: 1 },
    [b]: { too_old: 5 },
    [d]: { malformed: 1 },
  });
  expect(codesAt(mergeHours(known, answer))).toEqual({ [a]: { malformed: 1 }, [b]: { too_old: 5 } });
});
