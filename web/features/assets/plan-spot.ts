import type { AssetPlan } from './api.ts';

type Spot = Pick<AssetPlan['places'][number], 'x' | 'y'>;

const MIDDLE: Spot = { x: 0.5, y: 0.5 };

/** About the size of a mark on a picture of usual size. */
const MARK = { width: 0.19, height: 0.09 };

const tenthsOf = (from: number, step: number): number[] =>
  Array.from({ length: Math.floor((9 - from) / step) + 1 }, (_, index) => (from + index * step) / 10);

const distance = ({ x, y }: Spot) => Math.hypot(x - MIDDLE.x, y - MIDDLE.y);

/** From the middle outwards. */
const SPOTS: readonly Spot[] = tenthsOf(1, 1)
  .flatMap((y) => tenthsOf(1, 2).map((x) => ({ x, y })))
  .sort((a, b) => distance(a) - distance(b));

/** @returns the place of a new mark, which covers no other one while there is room */
export const freeSpot = (marks: readonly Spot[]): Spot =>
  SPOTS.find(({ x, y }) =>
    marks.every((mark) => Math.abs(mark.x - x) >= MARK.width || Math.abs(mark.y - y) >= MARK.height),
  ) ?? MIDDLE;
