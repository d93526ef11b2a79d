import type { Dashboard } from '../web/dashboard.ts';

export const SITES = ['North Meadow', 'South Meadow'];
export const DEVICES = ['collar-1', 'collar-2', 'collar-3', 'collar-4'];
export const SENSORS = ['ambient', 'belly', 'ear', 'hoof', 'muzzle', 'neck', 'rib', 'tail'];

/** Of each sensor: one a second. */
export const SAMPLES = 120;

/** Half of the sensors of each device measure a temperature, half a pulse. */
export const typeOf = (index: number) => (index % 2 === 0 ? 'temperature' : 'pulse');

/** Publishes the last two minutes of a small fleet: four devices at two sites, with eight sensors each. */
export async function publishSmallFleet({ announce, publish }: Dashboard) {
  for (const [number, device] of DEVICES.entries()) {
    const sensors = SENSORS.map((name, index) => ({
      sensor_id: name,
      name,
      type: typeOf(index),
      unit: typeOf(index) === 'pulse' ? 'beat/min' : 'Cel',
      interval_ms: 1000,
    }));
    await announce(device, { site: SITES[number % 2], sensors });
    await publish(device, measured());
  }
}

/**
 * Publishes the last two minutes again. After five minutes without a sample, a sensor is silent, and its chart is empty by default.
 */
export async function publishNewSamples({ publish }: Dashboard) {
  for (const device of DEVICES) await publish(device, measured());
}

function measured() {
  const end = Math.floor(Date.now() / 1000) * 1000;
  return SENSORS.flatMap((sensor_id, index) =>
    Array.from({ length: SAMPLES }, (_, step) => ({
      sensor_id,
      ts: end - (SAMPLES - 1 - step) * 1000,
      value: typeOf(index) === 'pulse' ? 70 + (step % 9) : 38 + Math.round(100 * Math.sin(step / 12)) / 100,
    })),
  );
}
