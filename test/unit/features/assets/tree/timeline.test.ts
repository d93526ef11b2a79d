import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Timeline } from '../../../../../api/features/assets/tree/timeline.ts';

const HOURS = 24;

test('Timeline: random values from random hours: each hour has the value that was set last from it or from an earlier hour', () => {
  const edit = fc.record({ since: fc.nat(HOURS - 1), value: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 8 }), (edits) => {
      const timeline = new Timeline<string>();
      const hours: Array<string | null> = Array.from({ length: HOURS }, () => null);
      for (const { since, value } of edits) {
        const before = [...hours];
        hours.fill(value, since);
        const isChanged = hours.some((each, hour) => each !== before[hour]);
        expect(timeline.set(value, since)).toBe(isChanged);
      }
      expect(hours.map((_, hour) => timeline.at(hour))).toEqual(hours);
      expect(timeline.newest).toBe(hours.at(-1) ?? null);
      const spans = [...timeline.between(0, HOURS)];
      expect(spans.flatMap(({ value, from, to }) => Array.from({ length: to - from }, () => value))).toEqual(
        hours.filter((value) => value !== null),
      );
      expect(spans.every(({ value }, index) => value !== spans[index + 1]?.value)).toBe(true);
    }),
  );
});

test('Timeline: part of the time is asked: the values are clipped to it', () => {
  const timeline = new Timeline<string>();
  timeline.set('a', 0);
  timeline.set('b', 10);
  timeline.set('c', 20);
  expect([...timeline.between(5, 12)]).toEqual([
    { value: 'a', from: 5, to: 10 },
    { value: 'b', from: 10, to: 12 },
  ]);
  expect([...timeline.between(20, 20)]).toEqual([]);
  expect([...timeline.values(10)]).toEqual(['b', 'c']);
});
