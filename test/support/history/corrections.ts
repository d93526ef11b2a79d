import type { RevisedHour } from '../../../api/ingest/revisions.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import type { Random } from '../../../simulator/random.ts';
import { arrivalOf, HOURS, HOURS_BEFORE, INSTANTS } from './messages.ts';
import type { SimulatedDevice, SimulatedInstallation } from './simulated-installation.ts';

/** A correction of one sensor of a device. `versions`: what each of its instants becomes; null: no sample. */
export interface SentCorrection {
  device: SimulatedDevice;
  key: string;
  sensor: Buffer;
  hours: RevisedHour[];
  versions: Array<{ ts: number; value: number | null }>;
}

const STEP = HOUR_MS / INSTANTS;

/** Replaces some samples of an hour, removes a span of two hours, or both. @returns `at`: arrival, in epoch ms */
export function makeCorrection(
  random: Random,
  installation: SimulatedInstallation,
): { correction: SentCorrection; at: number } {
  const whole = (below: number) => Math.floor(random.between(0, below));
  const device = installation.devices[whole(installation.devices.length)] as SimulatedDevice;
  const { key, bytes } = random.shuffled(device.sensors)[0] as SimulatedDevice['sensors'][number];
  const hour = installation.start + (whole(HOURS) - HOURS_BEFORE) * HOUR_MS;
  const kind = random.uniform();
  const removed = kind < 0.6 ? whole(2 * INSTANTS) : 0;
  const from = hour + whole(INSTANTS) * STEP;
  const span = { from, to: removed === 0 ? from : from + removed * STEP };
  const versions: Map<number, number | null> = new Map();
  for (let ts = span.from; ts < span.to; ts += STEP) versions.set(ts, null);
  if (kind > 0.4) {
    const first = whole(INSTANTS);
    for (let index = 0; index < 3; index++)
      versions.set(hour + (first + index) * STEP, random.between(-9, 9));
  }
  const correction = {
    device,
    key,
    sensor: bytes,
    hours: revisedHours(span, versions),
    versions: [...versions].map(([ts, value]) => ({ ts, value })),
  };
  return { correction, at: Math.max(installation.installedAt, arrivalOf(random, hour)) };
}

function revisedHours(
  span: { from: number; to: number },
  versions: Map<number, number | null>,
): RevisedHour[] {
  const hours = new Set([...versions.keys()].map((ts) => ts - (ts % HOUR_MS)));
  return [...hours].map((hour) => {
    const [from, to] = [Math.max(hour, span.from), Math.min(hour + HOUR_MS, span.to)];
    const samples = [...versions]
      .filter(([ts, value]) => value !== null && ts >= hour && ts < hour + HOUR_MS)
      .sort(([a], [b]) => a - b);
    return {
      hour,
      spans: from < to ? [{ from, to }] : [],
      samples: { times: samples.map(([ts]) => ts), values: samples.map(([, value]) => Number(value)) },
    };
  });
}
