import type { Labels, Samples } from '../../../api/features/shared/columns/rows.ts';

/** Doubles that lose bits where a program takes them for texts, floats or integers. */
export const HARD_VALUES = [
  0,
  -0,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
  2.225073858507201e-308,
  1.7976931348623157e308,
  -1.7976931348623157e308,
  0.1,
  0.30000000000000004,
  1 / 3,
  9007199254740992,
  -9007199254740991,
  1e23,
];

export const labelsNamed = (labels: Partial<Labels> = {}): Labels => ({
  device: 'dev-1',
  sensor: 'temperature',
  type: 'temperature',
  unit: 'Cel',
  site: null,
  ...labels,
});

export const samplesOf = (labels: Labels, rows: Array<[ts: number, value: number]>): Samples => ({
  labels,
  times: rows.map(([ts]) => ts),
  values: rows.map(([, value]) => value),
  from: 0,
  to: rows.length,
});

export async function* each<T>(items: T[]): AsyncGenerator<T, void> {
  yield* items;
}
