import type { Series } from '../../../api/ingest/sample-writer.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { Random } from '../../../simulator/random.ts';
import type { Sample } from './samples.ts';
import type { SimulatedDevice, SimulatedInstallation } from './simulated-installation.ts';

/** Hours of measurements, some of them before packing begins. */
export const HOURS_BEFORE = 1;
export const HOURS = 6;

/** Instants of measurements in an hour: few, so that messages overlap. */
export const INSTANTS = 30;

const MINUTE_MS = 60_000;

/** A message: its samples by sensor, and its rows. */
export interface SentMessage {
  device: SimulatedDevice;
  series: Array<{ key: string; samples: Sample[] }>;
  rows: Series[];
}

/** @returns `at`: arrival, in epoch ms */
export function makeMessage(
  random: Random,
  installation: SimulatedInstallation,
): { message: SentMessage; at: number } {
  const whole = (below: number) => Math.floor(random.between(0, below));
  const device = installation.devices[whole(installation.devices.length)] as SimulatedDevice;
  const hour = installation.start + (whole(HOURS) - HOURS_BEFORE) * HOUR_MS;
  const chosen = random.shuffled(device.sensors).slice(0, 1 + whole(device.sensors.length));
  const series = chosen.map(({ key, bytes }) => ({ key, bytes, samples: samplesOf(random, hour) }));
  const rows = series.map(({ bytes, samples }) => ({
    known: {} as never,
    sensor: bytes,
    times: samples.map(({ ts }) => ts),
    values: samples.map(({ value }) => value),
  }));
  return {
    message: { device, series, rows },
    at: Math.max(installation.installedAt, arrivalOf(random, hour)),
  };
}

/** @param hour epoch ms */
function samplesOf(random: Random, hour: number) {
  const step = HOUR_MS / INSTANTS;
  const first = Math.floor(random.between(0, INSTANTS));
  const count = 1 + Math.floor(random.between(0, 3));
  // The last samples may belong to the next hour.
  return Array.from({ length: count }, (_, index) => {
    const ts = hour + (first + index) * step;
    // A second value for the same instant is rare.
    const other = random.uniform() < 0.05 ? 0.5 : 0;
    return { ts, value: Math.sin(ts) + other };
  });
}

/**
 * Draws an arrival: on time, within a minute or some minutes of the closing, hours late, or days late.
 * @param hour epoch ms
 */
export function arrivalOf(random: Random, hour: number) {
  const end = hour + HOUR_MS;
  const closing = end + HOUR_MS;
  const luck = random.uniform();
  if (luck < 0.15) return random.between(hour, end);
  if (luck < 0.2) return end + random.between(0, 2 * HOUR_MS);
  if (luck < 0.55) return closing + random.between(-MINUTE_MS, MINUTE_MS);
  if (luck < 0.92) return closing + random.between(-10 * MINUTE_MS, 20 * MINUTE_MS);
  return end + random.between(0, 4 * DAY_MS);
}
