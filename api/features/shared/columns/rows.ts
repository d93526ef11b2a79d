import type { Numbers } from '../../../../schema/packed/series.ts';

export interface Labels {
  /** the name of the device, or its id if it has no name */
  device: string;
  sensor: string;
  type: string | null;
  unit: string | null;
  site: string | null;
}

/** Elements of `times` and `values` at the indexes [from, to), of one sensor. */
export interface Samples {
  /** one object for all samples of a sensor */
  labels: Labels;
  times: Numbers;
  values: Numbers;
  from: number;
  to: number;
}

export const LABELS = ['device', 'sensor', 'type', 'unit', 'site'] as const;

/** The site of a data set is in the names of its directories, and a column of the same name would hide it or clash with it. */
export const DATA_SET_LABELS = ['device', 'sensor', 'type', 'unit'] as const;

export type Label = (typeof LABELS)[number];

/** Labels are stored once for a run of rows, because the samples of a sensor follow each other. */
export class RowGroup {
  times;
  values;
  count = 0;
  runs: Array<{ labels: Labels; count: number }> = [];

  constructor(capacity: number) {
    this.times = new Float64Array(capacity);
    this.values = new Float64Array(capacity);
  }

  get isFull(): boolean {
    return this.count === this.times.length;
  }

  /** Adds as many samples as fit. Returns the index after the last added one. */
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

/** All groups are one object, which is filled again. None is empty. */
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

/** `index`: position in `values`, or -1 for null. */
export function labelRuns(
  { runs }: RowGroup,
  name: Label,
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
