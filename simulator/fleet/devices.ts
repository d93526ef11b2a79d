import casual from 'casual';
import type { SensorDescription } from '../announcement.ts';
import { PROFILES, type Profile } from '../profiles/index.ts';
import { createRandom } from '../random.ts';

const MOST_SITES = 6;
const DEVICES_PER_SITE = 8;

export type SimulatedSensor = SensorDescription & {
  unit: string;
  range: [number, number];
  read: () => number;
};
export type SimulatedDevice = { name: string; site: string; sensors: SimulatedSensor[] };

/**
 * Describes simulated devices `collar-0001`, `collar-0002` and so on. The devices stand at a few sites, and each has the sensors of its
 * profile. The same options give the same devices, down to every value that their sensors will read.
 */
export function describeDevices({
  devices,
  profile = 'collar',
  device,
  sensors,
  seed,
  intervalMs,
}: {
  devices: number;
  profile?: string;
  /** beginning of the device names; default: that of the profile */
  device?: string;
  /** number for each device; default: that of the profile, by the seed */
  sensors?: number;
  seed: number;
  /** between two measurements */
  intervalMs: number;
}): SimulatedDevice[] {
  const described = PROFILES[profile] as Profile;
  const called = device ?? described.device;
  const sites = nameSites(Math.min(MOST_SITES, Math.ceil(devices / DEVICES_PER_SITE)), seed);
  return Array.from({ length: devices }, (_, index) => {
    const name = deviceName(called, index + 1);
    const common = () => createRandom(seed, name, 'device');
    return {
      name,
      site: sites[index % sites.length] as string,
      sensors: described.sensorsOf(createRandom(seed, name), sensors).map((sensor) => ({
        name: sensor.name,
        type: sensor.signal.type,
        unit: sensor.signal.unit,
        range: sensor.signal.range,
        intervalMs,
        read: sensor.signal.create(createRandom(seed, name, sensor.name), intervalMs, common),
      })),
    };
  });
}

export const deviceName = (called: string, number: number) => `${called}-${String(number).padStart(4, '0')}`;

function nameSites(count: number, seed: number): string[] {
  casual.seed(seed);
  const names: Set<string> = new Set();
  while (names.size < count) names.add(casual.city);
  return [...names];
}
