import { expect, test } from '@jest/globals';
import { runsOf } from '../../../../web/kit/figure.tsx';

const HOLE_MS = 15_000;

/** @param seconds between points @returns number of points in each run without a gap */
function lengths(seconds: number[]): number[] {
  const points = [{ x: 0, y: 1 }];
  for (const step of seconds) points.push({ x: (points.at(-1)?.x ?? 0) + 1000 * step, y: 1 });
  return runsOf(points, HOLE_MS).map((run) => run.length);
}

test('Sparkline: outages of a sensor: each outage is drawn as a gap, also at the ends of the line', () => {
  expect(lengths([10, 10, 10, 300, 10, 10])).toEqual([4, 3]);
  expect(lengths([10, 10, 300, 300, 10, 10])).toEqual([3, 1, 3]);
  expect(lengths([10, 10, 10, 300])).toEqual([4, 1]);
  expect(lengths([300, 10, 10])).toEqual([1, 3]);
});
