import { randomUUID } from 'node:crypto';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { DAY_MS, dayOf, HOUR_MS, PACKED_BEFORE_START_MS } from '../../../schema/rules.js';
import { createMemoryStore, readMemoryTables } from '../memory-store/index.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Table } from '../memory-store/tables.js' */

/** A sensor. @typedef {{ key: string, bytes: Buffer }} SimulatedSensor `key`: of `createKnown` */
/** @typedef {{ name: string, id: string, bytes: Buffer, group: number, sensors: SimulatedSensor[] }} SimulatedDevice */

/**
 * The database of a simulation, with one group of devices, and an old first migration.
 *
 * @typedef {object} SimulatedInstallation
 * @property {Store} store
 * @property {number} start epoch ms of the first packed hour
 * @property {number} installedAt epoch ms of the first migration, before any message
 * @property {SimulatedDevice[]} devices that are not registered yet
 * @property {(now: number) => void} setClock sets the time of the database, in epoch ms
 * @property {(now: number) => Promise<void>} expire deletes expired batches
 */

/** Days from the commit of batches to their expiry: longer than the second pass over their hour. */
export const BATCH_DAYS = 4;

/** Late evening, so that the hours are on both sides of midnight. @param {number} day epoch ms */
const eveningOf = (day) => day + 21 * HOUR_MS;

/** The day of simulations in memory. It is fixed, so that a seed always gives the same result. */
const MEMORY_DAY = Date.UTC(2026, 4, 5);

/**
 * @returns {Promise<() => Promise<SimulatedInstallation>>} creates installations in memory, where batches expire by the
 *   clock of the simulation
 */
export async function prepareMemoryInstallations() {
  const retention = { latestGroups: 1, batchDays: BATCH_DAYS };
  const tables = await readMemoryTables(retention);
  return () => createMemoryInstallation(tables, retention);
}

/**
 * @param {Map<string, Table>} tables
 * @param {{ latestGroups: number, batchDays: number }} retention
 * @returns {Promise<SimulatedInstallation>}
 */
async function createMemoryInstallation(tables, retention) {
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

/**
 * @param {object} options
 * @param {Store} options.store
 * @param {Client} options.database
 * @returns {Promise<SimulatedInstallation>} an installation on the real database, in a keyspace without packed hours
 */
export async function createStoredInstallation({ store, database }) {
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
 *
 * @param {Client} database
 * @param {Pick<SimulatedInstallation, 'start' | 'devices'>} installation
 * @returns {SimulatedInstallation['expire']}
 */
function expiryOf(database, { start, devices }) {
  /** Pairs of virtual time and real time. @type {Array<{ at: number, wall: number }>} */
  const marks = [];
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

/** @param {string} suffix of their names @returns {SimulatedDevice[]} */
function createDevices(suffix) {
  return [['a', 'b'], ['a']].map((sensors, n) => {
    const name = `device-${n}${suffix}`;
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(name));
    return {
      name,
      id,
      bytes,
      group: groupOf(bytes, 1),
      sensors: sensors.map((sensor) => {
        const identity = /** @type {Identity} */ (identifySensor(id, sensor));
        return { key: `${id}/${identity.id}`, bytes: identity.bytes };
      }),
    };
  });
}

/**
 * Registers a device and its sensors, as ingest does before it stores their first message.
 *
 * @param {Store} store
 * @param {SimulatedDevice} device
 * @param {number} registeredAt epoch ms
 */
export async function register(store, device, registeredAt) {
  const changes = device.sensors.map(({ bytes }) => ({ bytes, registeredAt, writeTimestamp: 1 }));
  await store.write.registry.writeDevice(device, { name: device.name, registeredAt }, 1);
  const { indexes, sensors } = store.write.registry.sensorWrites(device, changes, registeredAt);
  for (const write of [...indexes, ...sensors]) await store.write.registry.commit(write);
}
