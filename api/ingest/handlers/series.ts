import type { Numbers } from '../../../schema/packed/series.ts';
import { bucketOf, HOUR_MS, isLate, SENSORS_PER_PART } from '../../../schema/rules.ts';
import { joinSamples, type MessageBatch, type SensorSamples } from '../decode/message-batch.ts';
import type { Device, Sensor } from '../registry/cache.ts';
import type { Series } from '../sample-writer.ts';

export const seriesOf = (known: Sensor, times: Numbers, values: Numbers): Series => ({
  known,
  sensor: known.bytes,
  times,
  values,
  from: 0,
  to: times.length,
});

/** `latest` ignores its newest sample, although it may be the newest of the sensor. */
export const isHidden = ({ known, times }: Series): boolean => {
  const ts = times[times.length - 1] as number;
  return known.correctedUntil !== undefined && ts <= known.correctedUntil && ts > (known.ts ?? -Infinity);
};

export const newestOf = ({ known, times, values }: Series) => ({
  sensor: known,
  ts: times[times.length - 1] as number,
  value: values[values.length - 1] as number,
});

/** A message may name a sensor by its id and by its name. */
export function addSamples(found: Map<Sensor, SensorSamples>, sensor: Sensor, samples: SensorSamples) {
  const others = found.get(sensor);
  found.set(sensor, others ? joinSamples(others, samples) : samples);
}

export function newestOfAll(series: Series[]): number {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { times } of series) newest = Math.max(newest, times[times.length - 1] as number);
  return newest;
}

/**
 * The samples are one row of `message`, and readers find them there. This row and its row of `latest` are usually one
 * request, and the row of `latest` is never sent long before. `now`: epoch ms
 */
export function isOneTimelyRow(device: Device, series: Series[], now: number): boolean {
  if (device.sensors.size > SENSORS_PER_PART) return false;
  let oldest = Number.POSITIVE_INFINITY;
  let newest = Number.NEGATIVE_INFINITY;
  for (const { times } of series) {
    oldest = Math.min(oldest, times[0] as number);
    newest = Math.max(newest, times[times.length - 1] as number);
  }
  const bucket = bucketOf(oldest);
  return newest - bucket < HOUR_MS && !isLate(bucket, now);
}

/** Equal instants of a sensor are stored as one sample. */
export function countMerged({ counts }: MessageBatch, series: Series[]) {
  let stored = 0;
  for (const { times } of series) stored += times.length;
  counts.merged = counts.samples - stored;
  counts.samples = stored;
}
