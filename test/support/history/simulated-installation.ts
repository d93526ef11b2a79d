import { randomUUID } from 'node:crypto';
import type { Client } from 'cassandra-driver';
import { type Store, stampOf } from '../../../api/store/index.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { DAY_MS, dayOf, HOUR_MS, PACKED_BEFORE_START_MS } from '../../../schema/rules.ts';
import { createMemoryStore, readMemoryTables } from '../memory-store/index.ts';
import type { Table } from '../memory-store/tables.ts';

/** `key`: of `createKnown` */
export type SimulatedSensor = { key: string; bytes: Buffer };
export type SimulatedDevice = {
  name: string;
  id: string;
  bytes: Buffer;
  group: number;
  sensors: SimulatedSensor[];
};

/** The database of a simulation, with one group of devices, and an old first migration. */
export interface SimulatedInstallation {
  store: Store;
  /** epoch ms of the first packed hour */
  start: number;
  /** epoch ms of the first migration, before any message */
  installedAt: number;
  /** that are not registered yet */
  devices: SimulatedDevice[];
  /** sets the time of the database, in epoch ms */
  setClock: (now: number) => void;
  /** deletes expired batches */
  expire: (now: number) => Promise<void>;
}

/** Days from the commit of batches to their expiry: longer than the second pass over their hour. */
export const BATCH_DAYS = 4;

/** Late evening, so that the hours are on both sides of midnight. @param day epoch ms */
const eveningOf = (day: number) => day + 21 * HOUR_MS;

/** The day of simulations in memory. It is fixed, so that a seed always gives the same result. */
const MEMORY_DAY = Date.UTC(2026, 4, 5);

/** @returns creates installations in memory, where batches expire by the clock of the simulation */
export async function prepareMemoryInstallations(): Promise<() => Promise<SimulatedInstallation>> {
  const retention = { latestGroups: 1, batchDays: BATCH_DAYS };
  const tables = await readMemoryTables(retention);
  return () => createMemoryInstallation(tables, retention);
}

async function createMemoryInstallation(
  tables: Map<string, Table>,
  retention: { latestGroups: number; batchDays: number },
): Promise<SimulatedInstallation> {
  const start = eveningOf(MEMORY_DAY);
  const clock = { now: start };
  const installedAt = start + PACKED_BEFORE_START_MS;
  const { store } = await createMemoryStore({
    clock: () => clock.now,
    installedAt,
    retention,
    tables,
  });
  return {
    store,
    start,
    installedAt,
    devices: createDevices(''),
    setClock: (now) => {
      clock.now = now;
    },
    expire: async () => {},
  };
}

/** @returns an installation on the real database, in a keyspace without packed hours */
export async function createStoredInstallation({
  store,
  database,
}: {
  store: Store;
  database: Client;
}): Promise<SimulatedInstallation> {
  const start = eveningOf(dayOf(Date.now()) - 12 * DAY_MS);
  const installedAt = start + PACKED_BEFORE_START_MS;
  for (const table of ['device', 'sensor', 'latest', 'pack_progress', 'late_day']) {
    await database.execute(`TRUNCATE ${table}`, [], { prepare: false });
  }
  await database.execute(
    "UPDATE schema_version SET applied_at = ? WHERE part = 'millrace' AND version = 1",
    [new Date(installedAt)],
    { prepare: true },
  );
  const devices = createDevices(randomUUID());
  return {
    store,
    start,
    installedAt,
    devices,
    setClock: () => {},
    expire: expiryOf(database, { start, devices }),
  };
}

/**
 * Returns a function that deletes batches written before some days ago, because tests cannot set the clock of the database.
 */
function expiryOf(
  database: Client,
  { start, devices }: Pick<SimulatedInstallation, 'start' | 'devices'>,
): SimulatedInstallation['expire'] {
  /** Pairs of virtual time and real time. */
  const marks: Array<{ at: number; wall: number }> = [];
  return async (now) => {
    marks.push({ at: now, wall: Date.now() });
    const mark = marks.findLast(({ at }) => at <= now - BATCH_DAYS * DAY_MS);
    if (!mark) return;
    for (const { id } of devices) {
      for (let hour = start - 3 * HOUR_MS; hour < start + 12 * HOUR_MS; hour += HOUR_MS) {
        await database.execute(
          'DELETE FROM message USING TIMESTAMP ? WHERE device_id = ? AND bucket = ? AND part = 0',
          [mark.wall * 1000, id, new Date(hour)],
          { prepare: true },
        );
      }
    }
  };
}

/** @param suffix of their names */
function createDevices(suffix: string): SimulatedDevice[] {
  return [['a', 'b'], ['a']].map((sensors, n) => {
    const name = `device-${n}${suffix}`;
    const { id, bytes } = identifyDevice(name) as Identity;
    return {
      name,
      id,
      bytes,
      group: groupOf(bytes, 1),
      sensors: sensors.map((sensor) => {
        const identity = identifySensor(id, sensor) as SensorIdentity;
        return { key: `${id}/${identity.id}`, bytes: identity.bytes };
      }),
    };
  });
}

/**
 * Registers a device and its sensors, as ingest does before it stores their first message.
 * @param registeredAt epoch ms
 */
export async function register(store: Store, device: SimulatedDevice, registeredAt: number) {
  const changes = device.sensors.map(({ bytes }) => ({ bytes, registeredAt, writeTimestamp: stampOf(1) }));
  await store.write.registry.writeDevice(device, { name: device.name, registeredAt }, stampOf(1));
  const { indexes, sensors } = store.write.registry.sensorWrites(device, changes, registeredAt);
  for (const write of [...indexes, ...sensors]) await store.write.registry.commit(write);
}
