import { randomUUID } from 'node:crypto';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { DAY_MS, dayOf, HOUR_MS, PACKED_BEFORE_START_MS } from '../../../schema/rules.js';

/** A registered sensor. @typedef {{ key: string, bytes: Buffer }} WorldSensor `key`: of `createKnown` */
/** @typedef {{ id: string, bytes: Buffer, group: number, sensors: WorldSensor[] }} WorldDevice */

/**
 * Where a simulation takes place: a keyspace with one group of devices, whose first migration was long enough ago.
 *
 * @typedef {object} World
 * @property {number} start epoch ms of the first hour that is packed
 * @property {number} installedAt epoch ms of the first migration: no message came before
 * @property {WorldDevice[]} devices
 */

/**
 * @param {object} parts
 * @param {import('../../../api/store/index.js').Store} parts.store
 * @param {import('cassandra-driver').Client} parts.database
 * @returns {Promise<World>} with devices that nobody has heard of, in a keyspace where nothing is packed
 */
export async function createWorld({ store, database }) {
  // Late in the evening, so that the hours lie on both sides of midnight.
  const start = dayOf(Date.now()) - 12 * DAY_MS + 21 * HOUR_MS;
  const installedAt = start + PACKED_BEFORE_START_MS;
  for (const table of ['device', 'latest', 'pack_progress']) {
    await database.execute(`TRUNCATE ${table}`, [], { prepare: false });
  }
  await database.execute(
    "UPDATE schema_version SET applied_at = ? WHERE part = 'millrace' AND version = 1",
    [new Date(installedAt)],
    { prepare: true },
  );
  const devices = [];
  for (let n = 0; n < 2; n++) devices.push(await register(store, randomUUID()));
  return { start, installedAt, devices };
}

/** @param {import('../../../api/store/index.js').Store} store @param {string} name @returns {Promise<WorldDevice>} */
async function register(store, name) {
  const { id, bytes } = /** @type {import('../../../schema/ids.js').Identity} */ (identifyDevice(name));
  const device = { id, bytes, group: groupOf(bytes, 1) };
  const registeredAt = Date.now();
  await store.registry.writeDevice(device, { name, registeredAt }, 1);
  const sensors = ['a', 'b'].map((sensor) => {
    const identity = /** @type {import('../../../schema/ids.js').Identity} */ (identifySensor(id, sensor));
    return { key: `${id}/${identity.id}`, bytes: identity.bytes };
  });
  const changes = sensors.map((sensor) => ({ bytes: sensor.bytes, registeredAt, stamp: 1 }));
  const { indexes, latest } = store.registry.sensorWrites(device, changes, registeredAt);
  for (const write of [...indexes, ...latest]) await store.registry.commit(write);
  return { ...device, sensors };
}
