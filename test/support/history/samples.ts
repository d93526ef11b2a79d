import type { Shape } from '../../../api/history/reading/series.ts';
import { greaterValue } from '../../../schema/packed/series.ts';

/** `ts` in epoch ms */
export type Sample = { ts: number; value: number };

/** What a message or a correction gives an instant. `revision` 0: a message; `value` null: a correction removes the sample. */
type Version = { revision: number; value: number | null };

/** By instant in epoch ms, every version that was sent for it. */
export type Instants = Map<number, Version[]>;

export function createKnown() {
  const sensors: Map<string, Instants> = new Map();

  const instantsOf = (sensor: string): Instants => {
    const instants = sensors.get(sensor) ?? new Map();
    sensors.set(sensor, instants);
    return instants;
  };

  return {
    instantsOf,

    add(sensor: string, samples: Array<{ ts: number; value: number | null }>, revision: number = 0) {
      const instants = instantsOf(sensor);
      for (const { ts, value } of samples)
        instants.set(ts, [...(instants.get(ts) ?? []), { revision, value }]);
    },

    /** @returns a copy of the current state */
    copy: (sensor: string): Instants =>
      new Map([...instantsOf(sensor)].map(([ts, versions]) => [ts, [...versions]])),
  };
}

export type Known = ReturnType<typeof createKnown>;

function newerOf(a: Version, b: Version): Version {
  if (a.revision !== b.revision) return a.revision > b.revision ? a : b;
  if (a.value === null || b.value === null) return a.value === null ? b : a;
  return greaterValue(a.value, b.value) === a.value ? a : b;
}

/** The values that a reader may see; null: no sample. Acknowledged versions may be replaced only by newer ones. */
function allowedOf(acknowledged: Version[], sent: Version[]): Array<number | null> {
  if (acknowledged.length === 0) return [null, ...sent.map(({ value }) => value)];
  const least = acknowledged.reduce(newerOf);
  const newer = sent.filter((version) => newerOf(least, version) === version);
  return [least, ...newer].map(({ value }) => value);
}

type Both = { acknowledged: Instants; sent: Instants };

/** @returns by instant of all that were sent, what a reader may see */
const allAllowed = ({ acknowledged, sent }: Both): Array<[ts: number, allowed: Array<number | null>]> =>
  [...sent]
    .sort(([a], [b]) => a - b)
    .map(([ts, versions]) => [ts, allowedOf(acknowledged.get(ts) ?? [], versions)]);

/**
 * Checks a reading of raw samples. It must contain all samples acknowledged before it began, and only samples that
 * were sent.
 * @param got in order of time
 */
export function faultsOf(got: Sample[], known: Both): string[] {
  const faults = [];
  const values = new Map(got.map(({ ts, value }) => [ts, value]));
  if (got.some(({ ts }, i) => i > 0 && ts <= Number(got[i - 1]?.ts))) faults.push('not in order');
  for (const [ts, allowed] of allAllowed(known)) {
    const value = values.get(ts) ?? null;
    if (!allowed.includes(value)) faults.push(`${value === null ? 'missing' : 'another value at'} ${ts}`);
  }
  for (const ts of values.keys()) if (!known.sent.has(ts)) faults.push(`extra ${ts}`);
  return faults;
}

/** Checks a series. If all samples of a bin are acknowledged, only one answer is correct. */
export function seriesFaultsOf({ points, width }: Shape, known: Both): string[] {
  const faults = [];
  const bins = binned(known, width);
  const got = new Map(points.map((point) => [point.ts, point]));
  for (const ts of got.keys()) if (!bins.has(ts)) faults.push(`a point at ${ts}`);
  for (const [ts, instants] of bins) {
    const point = got.get(ts);
    const least = instants.filter((allowed) => !allowed.includes(null)).length;
    const most = instants.filter((allowed) => allowed.some((value) => value !== null)).length;
    const count = point?.count ?? 0;
    if (count < least || count > most) faults.push(`count ${count} at ${ts}, of ${least} to ${most}`);
    else if (point && instants.every((allowed) => new Set(allowed).size === 1)) {
      const values = instants.flatMap(([value]) => value ?? []);
      const avg = values.reduce((total, value) => total + value, 0) / values.length;
      const [min, max] = [Math.min(...values), Math.max(...values)];
      const near = Math.abs(Number(point.avg) - avg) < 1e-9 * Math.max(...values.map(Math.abs), 1e-300);
      if (point.min !== min || point.max !== max || !near) faults.push(`values at ${ts}`);
    }
  }
  return faults;
}

/** @param width ms @returns what a reader may see at each instant, by bin */
function binned(known: Both, width: number): Map<number, Array<Array<number | null>>> {
  const bins: Map<number, Array<Array<number | null>>> = new Map();
  for (const [ts, allowed] of allAllowed(known)) {
    const bin = Math.floor(ts / width) * width;
    const instants = bins.get(bin);
    if (instants) instants.push(allowed);
    else bins.set(bin, [allowed]);
  }
  return bins;
}
