import cassandra from 'cassandra-driver';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { packSamples } from '../../../schema/packed/pack.ts';
import { greaterValue, mergeSeries } from '../../../schema/packed/series.ts';
import { hourStatisticsOf } from '../../../schema/packed/statistics.ts';
import { bucketOf, closingOf, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { TestSystem } from '../system/index.ts';
import { until } from '../until.ts';

/** `ts` in epoch ms */
export type Sample = [ts: number, value: number];

function nextMillisecond() {
  const now = Date.now();
  return until(() => Date.now() > now, { what: 'the next millisecond' });
}

const uuid = (bytes: Buffer) => new cassandra.types.Uuid(bytes);

export async function openHistory(system: TestSystem) {
  const store = await system.openStore();
  const { latestGroups } = system.config.retention;

  function sensorOf(deviceName: string, sensorName: string) {
    const device = identifyDevice(deviceName) as Identity;
    const sensor = identifySensor(device.id, sensorName) as SensorIdentity;
    return { group: groupOf(device.bytes, latestGroups), device: device.bytes, sensor: sensor.bytes };
  }

  /**
   * Deletes of the test and writes of the application have the times of two clients. A delete wins over a write of the same
   * microsecond, so each delete has its own millisecond. Without this, 7 % of the rows written right after a delete were missing.
   */
  async function erase(statement: string, values: unknown[]) {
    await nextMillisecond();
    await system.execute(statement, values);
    await nextMillisecond();
  }

  return {
    store,
    sensorOf,

    /** Marks hours as packed, so readers do not look for their batches. @param until epoch ms */
    async packedUntil(until: number) {
      for (let group = 0; group < latestGroups; group++) await store.packProgress.writePacked(group, until);
    },

    /**
     * Packs an hour as the packer does, with all its batches and the existing history.
     * @param hour epoch ms
     * @param readFrom epoch ms
     */
    async pack(sensor: ReturnType<typeof sensorOf>, hour: number, readFrom: number = closingOf(hour)) {
      const batches = await store.samples.readHour(sensor.device, sensor.sensor, hour);
      const { times, values } = mergeSeries([batches, ...(await store.packed.readHour(sensor, hour))]);
      if (times.length === 0) return;
      await store.write.history.writeSamples(sensor, [
        { hour, samples: packSamples(hour, times, values, 0, times.length) },
      ]);
      await store.write.history.writeStatistics(sensor, hour, hourStatisticsOf(values), readFrom);
    },

    /** Deletes the batches of these hours, as their expiry would. @param hours epoch ms */
    async dropBatches({ device }: ReturnType<typeof sensorOf>, hours: number[]) {
      for (const hour of hours) {
        await erase('DELETE FROM message WHERE device_id = ? AND bucket = ? AND part = 0', [
          uuid(device),
          new Date(hour),
        ]);
      }
    },

    /** @param hour epoch ms */
    async dropPacked({ device, sensor }: ReturnType<typeof sensorOf>, hour: number) {
      await erase('DELETE FROM history WHERE device_id = ? AND sensor_id = ? AND day = ? AND hour = ?', [
        uuid(device),
        uuid(sensor),
        new Date(dayOf(hour)),
        new Date(hour),
      ]);
    },
  };
}

export type History = Awaited<ReturnType<typeof openHistory>>;

/** Merges sent samples by brute force: one for each instant, in order of time. */
export function unionOf(samples: Sample[]): Sample[] {
  const values: Map<number, number> = new Map();
  for (const [ts, value] of samples) {
    const known = values.get(ts);
    values.set(ts, known === undefined ? value : greaterValue(known, value));
  }
  return [...values].sort(([a], [b]) => a - b);
}

export type Fate = 'packed' | 'packed, then late' | 'late alone' | 'batches' | 'nothing';

export const FATES: Fate[] = ['packed', 'packed, then late', 'late alone', 'batches', 'nothing'];

/**
 * Stores hours by different paths, in the order in which they happen: messages in time, the packer, late messages, the expiry of batches.
 * `batches` is for hours after all packed ones.
 */
export async function layDown({
  history,
  send,
  clock,
  sensor,
  hours,
}: {
  history: History;
  /** one message */
  send: (samples: Sample[]) => Promise<unknown>;
  /** the clock of the system, which it sets */
  clock: { now: number };
  sensor: ReturnType<History['sensorOf']>;
  /** in order of time; of `packed, then late` every second sample is late */
  hours: Array<{ hour: number; fate: Fate; samples: Sample[] }>;
}) {
  const end = Math.max(...hours.map(({ hour }) => hour)) + HOUR_MS;
  const timely = ['packed', 'packed, then late', 'batches'];
  for (const { hour, fate, samples } of hours) {
    clock.now = hour + HOUR_MS;
    const now = samples.filter((_, index) => fate !== 'packed, then late' || index % 2 === 0);
    if (timely.includes(fate) && now.length > 0) await send(now);
  }
  for (const { hour, fate } of hours) {
    if (fate.startsWith('packed')) await history.pack(sensor, hour);
  }
  const firstUnpacked = hours.find(({ fate }) => fate === 'batches')?.hour ?? end;
  await history.packedUntil(bucketOf(firstUnpacked));
  clock.now = end + 3 * HOUR_MS;
  for (const { fate, samples } of hours) {
    const late = samples.filter((_, index) => fate !== 'packed, then late' || index % 2 === 1);
    if (!timely.includes(fate) || fate === 'packed, then late') {
      if (late.length > 0) await send(late);
    }
  }
  await history.dropBatches(
    sensor,
    hours.filter(({ fate }) => fate !== 'batches').map(({ hour }) => hour),
  );
}
