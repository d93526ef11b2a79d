import type { Shape } from '../../../api/history/reading/series.ts';
import { greaterValue } from '../../../schema/packed/series.ts';

/** `ts` in epoch ms */
export type Sample = { ts: number; value: number };

/** Collects the samples of a test: by sensor and instant, every value that was sent for it. */
export function createKnown() {
  const sensors: Map<string, Map<number, number[]>> = new Map();

  const instantsOf = (sensor: string) => {
    const instants = sensors.get(sensor) ?? new Map();
    sensors.set(sensor, instants);
    return instants;
  };

  return {
    instantsOf,

    add(sensor: string, samples: Sample[]) {
      const instants = instantsOf(sensor);
      for (const { ts, value } of samples) {
        const values = instants.get(ts);
        if (!values) instants.set(ts, [value]);
        else if (!values.includes(value)) values.push(value);
      }
    },

    /** @returns a copy of the current state */
    copy: (sensor: string): Map<number, number[]> =>
      new Map([...instantsOf(sensor)].map(([ts, values]) => [ts, [...values]])),
  };
}

export type Known = ReturnType<typeof createKnown>;

/** @param values of one instant */
export const greatest = (values: number[]) => values.reduce(greaterValue);

/**
 * Checks a reading of raw samples. It must contain all samples acknowledged before it began, and only samples that
 * were sent.
 * @param got in order of time
 */
export function faultsOf(
  got: Sample[],
  { acknowledged, sent }: { acknowledged: Map<number, number[]>; sent: Map<number, number[]> },
): string[] {
  const faults = [];
  const values = new Map(got.map(({ ts, value }) => [ts, value]));
  if (got.some(({ ts }, i) => i > 0 && ts <= Number(got[i - 1]?.ts))) faults.push('not in order');
  for (const [ts, acked] of acknowledged) {
    const value = values.get(ts);
    if (value === undefined) faults.push(`missing ${ts}`);
    else if (greatest([...acked, value]) !== value) faults.push(`another value at ${ts}`);
  }
  for (const [ts, value] of values) {
    if (!sent.get(ts)?.includes(value)) faults.push(`extra ${ts}`);
  }
  return faults;
}

/** Checks a series. If all samples of a bin are acknowledged, only one answer is correct. */
export function seriesFaultsOf(
  { points, width }: Shape,
  { acknowledged, sent }: { acknowledged: Map<number, number[]>; sent: Map<number, number[]> },
): string[] {
  const faults = [];
  const must = binned(acknowledged, width);
  const may = binned(sent, width);
  const got = new Map(points.map((point) => [point.ts, point]));
  for (const ts of must.keys()) if (!got.has(ts)) faults.push(`no point at ${ts}`);
  for (const [ts, point] of got) {
    const all = may.get(ts) ?? [];
    const acked = must.get(ts) ?? [];
    if (point.count < acked.length || point.count > all.length) {
      faults.push(`count ${point.count} at ${ts}, of ${acked.length} to ${all.length}`);
    } else if (acked.length === all.length && acked.every((value, i) => Object.is(value, all[i]))) {
      const sum = acked.reduce((total, value) => total + value, 0);
      const exact = { min: Math.min(...acked), max: Math.max(...acked), avg: sum / acked.length };
      const near = Math.abs(Number(point.avg) - exact.avg) < 1e-9 * Math.max(...acked.map(Math.abs), 1e-300);
      if (point.min !== exact.min || point.max !== exact.max || !near) faults.push(`values at ${ts}`);
    }
  }
  return faults;
}

/** @param width ms @returns values in order of time, by bin */
function binned(instants: Map<number, number[]>, width: number): Map<number, number[]> {
  const bins: Map<number, number[]> = new Map();
  for (const [ts, values] of [...instants].sort(([a], [b]) => a - b)) {
    const bin = Math.floor(ts / width) * width;
    bins.set(bin, [...(bins.get(bin) ?? []), greatest(values)]);
  }
  return bins;
}
