import { stampOf } from '../../../api/store/index.ts';
import type { RegistryStore } from '../../../api/store/registry/index.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { createRandom } from '../../../simulator/random.ts';
import { createDrift, rounded } from '../../../simulator/signals/components.ts';

/** With leading zeros, names sort in the order of the numbers. */
const DEVICE_DIGITS = 6;
const SENSOR_DIGITS = 3;

/** Queries by type and by site find these attributes. */
const TYPE = 'temperature';
const UNIT = 'Cel';
const SITE = 'load';

/** The path in the site of a device makes assets of these levels. */
export const TREE_LEVELS = ['site', 'area', 'line', 'cell', 'machine'];

/**
 * Devices are dealt out to the assets of the deepest level in turn.
 * @param tree number of assets on the first level, and below each asset of the level before
 */
export function siteOf(number: number, tree: readonly number[]): string {
  let rest = number;
  const names = tree.map((count, level) => {
    const name = `${TREE_LEVELS[level]}-${(rest % count) + 1}`;
    rest = Math.floor(rest / count);
    return name;
  });
  return [SITE, ...names].slice(names.length === 0 ? 0 : 1).join('/');
}

export interface LoadedDevice {
  name: string;
  id: string;
  bytes: Buffer;
  site: string;
  group: number;
  sensors: Array<{ name: string; bytes: Buffer }>;
}

/**
 * Names contain the seed, so two data sets with different seeds have no device in common.
 * @param options `sensors`: of each device; `groups`: LATEST_GROUPS; `tree`: see `siteOf`
 */
export const fleetOf = (options: {
  seed: number;
  devices: number;
  sensors: number;
  groups: number;
  tree?: readonly number[];
}): LoadedDevice[] =>
  Array.from({ length: options.devices }, (_, number) => {
    const name = `load-${options.seed}-${String(number).padStart(DEVICE_DIGITS, '0')}`;
    const { id, bytes } = identifyDevice(name) as Identity;
    const sensors = Array.from({ length: options.sensors }, (_, index) => {
      const sensor = `sensor-${String(index).padStart(SENSOR_DIGITS, '0')}`;
      return { name: sensor, bytes: (identifySensor(id, sensor) as SensorIdentity).bytes };
    });
    const site = siteOf(number, options.tree ?? []);
    return { name, id, bytes, site, group: groupOf(bytes, options.groups), sensors };
  });

/** Like a birth message. `now`: epoch ms */
export async function register(
  registry: RegistryStore,
  { name, bytes, site, group, sensors }: LoadedDevice,
  { now, intervalMs }: { now: number; intervalMs: number },
) {
  const key = { group, bytes };
  const stamp = stampOf(now);
  await registry.writeDevice(key, { name, site, registeredAt: now }, stamp);
  const changes = sensors.map((sensor) => ({
    bytes: sensor.bytes,
    deviceName: name,
    name: sensor.name,
    type: TYPE,
    unit: UNIT,
    site,
    intervalMs,
    registeredAt: now,
    writeTimestamp: stamp,
  }));
  const { indexes, sensors: rows } = registry.sensorWrites(key, changes, now);
  for (const write of [...indexes, ...rows]) await registry.commit(write);
}

/** °C: mean, daily variation, drift within ten minutes, and noise of the instrument. */
const MIDDLE = 21;
const DAILY = 3;
const DRIFT = { memoryMs: 600_000, deviation: 0.08 };
const NOISE = 0.02;

const DIGITS = 2;

/**
 * - `decimals`: values with two decimals, as instruments send them
 * - `full`: values with all digits of a double
 */
export type SignalKind = 'decimals' | 'full';

export const SIGNALS = ['decimals', 'full'] as const;

export interface Recipe {
  seed: number;
  signal: SignalKind;
  intervalMs: number;
  /** maximum deviation from the regular time, in ms */
  jitterMs: number;
}

/**
 * The samples depend only on the arguments, and not on other hours. So hours can be generated in any order, and an hour has the same
 * samples in every data set with these arguments.
 * @param hour epoch ms
 * @returns times in epoch ms, strictly ascending, all within the hour
 */
export function samplesOfHour(
  { seed, signal, intervalMs, jitterMs }: Recipe,
  { device, sensor }: { device: string; sensor: string },
  hour: number,
): { times: Float64Array; values: Float64Array } {
  const fixed = createRandom(seed, device, sensor);
  const phase = fixed.uniform();
  // The offset is so far from both ends that the jitter moves no sample out of its interval.
  const offset = Math.floor(fixed.between(jitterMs, intervalMs - jitterMs));
  const random = createRandom(seed, device, sensor, String(hour));
  const drift = createDrift(random, intervalMs, DRIFT);
  const count = samplesPerHour(intervalMs);
  const times = new Float64Array(count);
  const values = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const stroke = hour + at * intervalMs + offset;
    times[at] = stroke + Math.floor(random.between(-jitterMs, jitterMs));
    const day = Math.sin(2 * Math.PI * (phase + (stroke % DAY_MS) / DAY_MS));
    const value = MIDDLE + DAILY * day + drift() + NOISE * random.normal();
    values[at] = signal === 'full' ? value : rounded(value, DIGITS);
  }
  return { times, values };
}

export const samplesPerHour = (intervalMs: number): number => Math.floor(HOUR_MS / intervalMs);
