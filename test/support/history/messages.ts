import { DAY_MS, HOUR_MS } from '../../../schema/rules.js';

/** @import { Series } from '../../../api/ingest/sample-writer.js' */
/** @import { Random } from '../../../simulator/random.js' */
/** @import { Sample } from './samples.js' */
/** @import { SimulatedDevice, SimulatedInstallation } from './simulated-installation.js' */

/** Hours of measurements, some of them before packing begins. */
const HOURS_BEFORE = 1;
export const HOURS = 6;

/** Instants of measurements in an hour: few, so that messages overlap. */
const INSTANTS = 30;

const MINUTE_MS = 60_000;

/**
 * A message: its samples by sensor, and its rows.
 *
 * @typedef {object} SentMessage
 * @property {SimulatedDevice} device
 * @property {Array<{ key: string, samples: Sample[] }>} series
 * @property {Series[]} rows
 */

/**
 * @param {Random} random
 * @param {SimulatedInstallation} installation
 * @returns {{ message: SentMessage, at: number }} `at`: arrival, in epoch ms
 */
export function makeMessage(random, installation) {
  const whole = (/** @type {number} */ below) => Math.floor(random.between(0, below));
  const device = /** @type {SimulatedDevice} */ (installation.devices[whole(installation.devices.length)]);
  const hour = installation.start + (whole(HOURS) - HOURS_BEFORE) * HOUR_MS;
  const chosen = random.shuffled(device.sensors).slice(0, 1 + whole(device.sensors.length));
  const series = chosen.map(({ key, bytes }) => ({ key, bytes, samples: samplesOf(random, hour) }));
  const rows = series.map(({ bytes, samples }) => ({
    known: /** @type {any} */ ({}),
    sensor: bytes,
    times: samples.map(({ ts }) => ts),
    values: samples.map(({ value }) => value),
  }));
  return {
    message: { device, series, rows },
    at: Math.max(installation.installedAt, arrivalOf(random, hour)),
  };
}

/** @param {Random} random @param {number} hour epoch ms */
function samplesOf(random, hour) {
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
 *
 * @param {Random} random
 * @param {number} hour epoch ms
 */
function arrivalOf(random, hour) {
  const end = hour + HOUR_MS;
  const closing = end + HOUR_MS;
  const luck = random.uniform();
  if (luck < 0.15) return random.between(hour, end);
  if (luck < 0.2) return end + random.between(0, 2 * HOUR_MS);
  if (luck < 0.55) return closing + random.between(-MINUTE_MS, MINUTE_MS);
  if (luck < 0.92) return closing + random.between(-10 * MINUTE_MS, 20 * MINUTE_MS);
  return end + random.between(0, 4 * DAY_MS);
}
