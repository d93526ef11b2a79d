import type { Numbers } from '../../schema/packed/series.ts';

/** The labels of a sensor, which each of its rows in a file repeats. */
export interface Labels {
  /** name of the device, or its id if it has no name */
  device: string;
  /** name of the sensor, or its id if it has no name */
  sensor: string;
  type: string | null;
  unit: string | null;
}

/** Samples of one sensor: the elements of `times` and `values` at the indexes [from, to). */
export interface Samples {
  /** the same object for all samples of a sensor */
  labels: Labels;
  /** epoch ms */
  times: Numbers;
  values: Numbers;
  from: number;
  to: number;
}

/** Names of the label columns, which are the members of `Labels`. */
export const LABELS = ['device', 'sensor', 'type', 'unit'] as const;

/** The columns of a file, in their order. */
export const COLUMNS = ['ts', ...LABELS, 'value'] as const;

/** Rows of one group, column by column. Labels are stored once for a run of rows, because the samples of a sensor follow each other. */
export class RowGroup {
  /** Times in epoch ms. */
  times;
  values;
  count = 0;
  runs: Array<{ labels: Labels; count: number }> = [];

  /** @param capacity rows */
  constructor(capacity: number) {
    this.times = new Float64Array(capacity);
    this.values = new Float64Array(capacity);
  }

  /** @returns whether the group is full */
  get isFull(): boolean {
    return this.count === this.times.length;
  }

  /** Adds as many samples as fit into the group. @returns the index after the last sample that was added */
  add({ labels, times, values, from, to }: Samples): number {
    const end = Math.min(to, from + this.times.length - this.count);
    for (let index = from, at = this.count; index < end; index++, at++) {
      this.times[at] = times[index] as number;
      this.values[at] = values[index] as number;
    }
    const last = this.runs.at(-1);
    if (last?.labels === labels) last.count += end - from;
    else if (end > from) this.runs.push({ labels, count: end - from });
    this.count += end - from;
    return end;
  }

  clear() {
    this.count = 0;
    this.runs = [];
  }
}

/**
 * Gathers samples into groups of a fixed number of rows. One group is in memory at a time.
 * @param capacity rows of a group
 * @returns groups that are not empty. All groups are one object, which is filled again
 */
export async function* rowGroups(
  source: AsyncIterable<Samples>,
  capacity: number,
): AsyncGenerator<RowGroup, void> {
  const group = new RowGroup(capacity);
  for await (const samples of source) {
    for (let from = samples.from; from < samples.to; ) {
      from = group.add({ ...samples, from });
      if (!group.isFull) continue;
      yield group;
      group.clear();
    }
  }
  if (group.count > 0) yield group;
}

/**
 * Finds the distinct values of a label in a group, and the runs of rows that have them.
 * @returns `index`: index in `values`, or -1 for null
 */
export function labelRuns(
  { runs }: RowGroup,
  name: (typeof LABELS)[number],
): { values: string[]; runs: Array<{ index: number; count: number }> } {
  const indexes: Map<string, number> = new Map();
  const found: Array<{ index: number; count: number }> = [];
  for (const { labels, count } of runs) {
    const value = labels[name];
    const index = value === null ? -1 : (indexes.get(value) ?? indexes.size);
    if (value !== null) indexes.set(value, index);
    const last = found.at(-1);
    if (last?.index === index) last.count += count;
    else found.push({ index, count });
  }
  return { values: [...indexes.keys()], runs: found };
}
