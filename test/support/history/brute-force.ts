import type { Aggregate } from '../../../api/history/reading/bins.ts';
import type { Sample } from './index.ts';

type Point = { ts: number; min: number; max: number; avg: number | null; count: number };

const SECOND = 1000;
const [MINUTE, HOUR, DAY] = [60 * SECOND, 3600 * SECOND, 86_400 * SECOND];

/** The widths that the contract names, in ms. */
export const WIDTHS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 7, 30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 360].map((days) => days * DAY),
];

/** @returns ms */
export const widthOf = ({ from, to }: { from: number; to: number }, points: number): number | undefined =>
  WIDTHS.find((width) => Math.floor((to - 1) / width) - Math.floor(from / width) + 1 <= points);

/**
 * @param samples one for each instant, in order of time
 * @param width ms
 */
export function seriesOf(
  samples: Sample[],
  { from, to }: { from: number; to: number },
  width: number,
): Point[] {
  const bins: Map<number, number[]> = new Map();
  for (const [ts, value] of samples) {
    if (ts < from || ts >= to) continue;
    const start = Math.floor(ts / width) * width;
    bins.set(start, [...(bins.get(start) ?? []), value]);
  }
  return [...bins].map(([ts, values]) => ({
    ts,
    min: Math.min(...values),
    max: Math.max(...values),
    avg: averageOf(values),
    count: values.length,
  }));
}

/** Large values are scaled down before the sum, so that it does not overflow. Small values are not, because they would lose precision. */
function averageOf(values: number[]) {
  const scale = values.some((value) => Math.abs(value) > 2 ** 900) ? 2 ** 20 : 1;
  const sum = values.reduce((total, value) => total + value / scale, 0);
  return Math.abs(sum) > Number.MAX_VALUE / scale ? null : (sum / values.length) * scale;
}

export const AGGREGATES: Record<Aggregate, (values: number[]) => number> = {
  avg: (values) => sumOf(values) / values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
  sum: sumOf,
  first: (values) => Number(values[0]),
  last: (values) => Number(values.at(-1)),
};

function sumOf(values: number[]) {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * @param samples in any order
 * @param edges of the bins, epoch ms
 * @returns by aggregate
 */
export function alignedOf(
  samples: Sample[],
  { from, to }: { from: number; to: number },
  edges: number[],
): Record<string, Array<number | null>> {
  const inRange = samples.filter(([ts]) => ts >= from && ts < to).sort(([a], [b]) => a - b);
  const bins = edges
    .slice(0, -1)
    .map((edge, index) =>
      inRange.filter(([ts]) => ts >= edge && ts < Number(edges[index + 1])).map(([, value]) => value),
    );
  return Object.fromEntries(
    Object.entries(AGGREGATES).map(([name, compute]) => [
      name,
      bins.map((values) => (values.length > 0 || name === 'count' ? compute(values) : null)),
    ]),
  );
}

/** @returns the first difference; averages may differ by a billionth of the largest value of their bin */
export function difference(given: Point[], expected: Point[]): string | null {
  if (given.length !== expected.length) return `${given.length} points, not ${expected.length}`;
  for (const [index, { avg, ...exactly }] of expected.entries()) {
    const { avg: average, ...point } = given[index] as Point;
    if (JSON.stringify(point) !== JSON.stringify(exactly)) {
      return `${JSON.stringify(point)}, not ${JSON.stringify(exactly)}`;
    }
    if ((average === null) !== (avg === null)) return `average ${average}, not ${avg}, of ${point.ts}`;
    const largest = Math.max(Math.abs(point.min), Math.abs(point.max));
    // A difference that overflows or is not a number counts as well.
    if (avg !== null && !(Math.abs(Number(average) / 2 - avg / 2) <= largest * 5e-10)) {
      return `average ${average}, not ${avg}, of ${point.ts}`;
    }
  }
  return null;
}
