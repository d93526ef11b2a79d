import { expect, test } from '@jest/globals';
import { freeSpot } from '../../../../../web/features/assets/plan-spot.ts';

test('Place of a new mark: forty marks one after the other: the first in the middle, and none covers another', () => {
  const marks: { x: number; y: number }[] = [];
  for (let count = 0; count < 40; count++) marks.push(freeSpot(marks));
  expect(marks[0]).toEqual({ x: 0.5, y: 0.5 });
  const covering = marks.filter((a, index) =>
    marks.slice(0, index).some((b) => Math.abs(a.x - b.x) < 0.19 && Math.abs(a.y - b.y) < 0.09),
  );
  expect(covering).toEqual([]);
});

test('Place of a new mark: the middle is taken by a mark next to it: the mark moves aside', () => {
  expect(freeSpot([{ x: 0.52, y: 0.49 }])).not.toEqual({ x: 0.5, y: 0.5 });
});
