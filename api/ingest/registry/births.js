import { groupOf } from '../../../schema/ids.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { blankDevice, blankSensor } from './index.js';

/** @typedef {import('./cache.js').Device} Device */
/** @typedef {import('./cache.js').Sensor} Sensor */
/** @typedef {import('./birth-message.js').Birth} Birth */
/** @typedef {import('./birth-message.js').SensorBirth} SensorBirth */

/**
 * Registers what a birth tells. Only what differs from the registry is written; the birth may be acknowledged when
 * this is done.
 *
 * @param {object} parts
 * @param {import('./index.js').Registry} parts.registry
 * @param {import('../../store/registry/index.js').RegistryStore} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 * @param {number} parts.groups
 * @param {() => number} parts.clock epoch ms
 */
export function createBirths({ registry, store, patience, groups, clock }) {
  /** @param {import('../../../schema/ids.js').Identity} identity @param {Birth} birth @returns {Promise<Device>} */
  async function writeDevice({ id, bytes }, birth) {
    const found = await patience.persist(() => registry.cache.find({ id, bytes, name: null }));
    const now = clock();
    const device =
      found ?? blankDevice({ id, bytes, group: groupOf(bytes, groups), name: null, registeredAt: now });
    const change = {
      name: differing(birth.name, device.name),
      site: differing(birth.site, device.site),
      session: birth.session > (device.session ?? 0) ? birth.session : undefined,
      registeredAt: found ? undefined : now,
    };
    if (isEmpty(change)) return device;
    const stamp = stampAfter(birth.session, found && device.session === null ? found.registeredAt : null);
    await patience.persist(() => store.writeDevice(device, change, stamp));
    if (!found) registry.countDevice();
    return Object.assign(device, defined({ name: birth.name, site: birth.site, session: change.session }));
  }

  /** @param {Device} device @param {Birth} birth @param {SensorBirth[]} sensors those of the birth that are taken @param {boolean} late */
  async function writeSensors(device, birth, sensors, late) {
    const now = clock();
    const born = new Map(sensors.map((sensor) => [sensor.identity.id, sensor]));
    // A new name or site of the device stands in the rows of all its sensors, mentioned by this birth or not.
    const ids = new Set([...born.keys(), ...device.sensors.keys()]);
    const changes = [...ids]
      .map((id) => changeOf({ device, known: device.sensors.get(id), born: born.get(id), birth, now, late }))
      .filter((change) => change !== null);
    if (changes.length === 0) return;
    await patience.persist(() =>
      store.writeSensors(
        device,
        changes.map(({ change }) => change),
        now,
      ),
    );
    for (const { sensor, after } of changes) {
      device.sensors.set(sensor.id, Object.assign(sensor, defined(after)));
    }
  }

  return {
    /**
     * @param {import('../../../schema/ids.js').Identity} identity
     * @param {Birth} birth
     * @returns {Promise<import('../../store/dead-letters.js').Refusals>} when the registry has committed it: the
     *   sensors that are more than a device may have
     */
    register: (identity, birth) =>
      registry.inTurn(identity.id, async () => {
        const device = await writeDevice(identity, birth);
        const late = birth.session < (device.session ?? 0);
        const { taken, refused } = admit(device, birth.sensors);
        await writeSensors(device, birth, taken, late);
        // A birth of an older session: the database knows by its stamps what holds now, we do not.
        if (late) registry.cache.forget(device.id);
        else registry.cache.keep(device);
        return refused;
      }),
  };
}

/** @typedef {ReturnType<typeof createBirths>} Births */

/** @param {Device} device @param {SensorBirth[]} sensors */
function admit(device, sensors) {
  let room = MAX_SENSORS_PER_DEVICE - device.sensors.size;
  const fits = sensors.map(({ identity }) => device.sensors.has(identity.id) || room-- > 0);
  return {
    taken: sensors.filter((_, at) => fits[at]),
    refused: sensors
      .filter((_, at) => !fits[at])
      .map(({ index }) => ({ index, code: /** @type {const} */ ('registration_limit') })),
  };
}

/**
 * @param {object} parts
 * @param {Device} parts.device as the birth has made it
 * @param {Sensor | undefined} parts.known
 * @param {SensorBirth | undefined} parts.born undefined: the birth does not mention this sensor
 * @param {Birth} parts.birth
 * @param {number} parts.now epoch ms
 * @param {boolean} parts.late the birth is of an older session than the device's
 */
function changeOf({ device, known, born, birth, now, late }) {
  const identity = born?.identity;
  const sensor =
    known ??
    (identity && blankSensor({ ...identity, name: null, deviceName: null, site: null, registeredAt: now }));
  if (!sensor) return null;
  const after = {
    name: born?.name,
    type: born?.type,
    unit: born?.unit,
    site: birth.site ?? device.site ?? undefined,
    intervalMs: born?.intervalMs,
  };
  const change = {
    device: known && sensor.deviceName === device.name ? undefined : (device.name ?? undefined),
    name: differing(after.name, sensor.name),
    type: differing(after.type, sensor.type),
    unit: differing(after.unit, sensor.unit),
    site: differing(after.site, sensor.site),
    intervalMs: differing(after.intervalMs, sensor.intervalMs),
    registeredAt: known ? undefined : now,
  };
  if (isEmpty(change)) return null;
  const first = !late && known !== undefined && known.type === null;
  const stamp = stampAfter(birth.session, first ? known.registeredAt : null);
  return {
    sensor,
    after: { ...after, deviceName: device.name ?? undefined },
    change: { ...change, bytes: sensor.bytes, stamp },
  };
}

/**
 * What a first message has registered is stamped with that moment, which may be later than the session's start; the
 * first birth says more than that message did, and must win over it.
 *
 * @param {number} session epoch ms
 * @param {number | null} registeredAt epoch ms of a registration by message, else null
 * @returns {number} epoch µs
 */
const stampAfter = (session, registeredAt) =>
  registeredAt === null ? session * 1000 : Math.max(session * 1000, registeredAt * 1000 + 1);

/**
 * @template T
 * @param {T | undefined} wanted
 * @param {T | null} has
 * @returns {T | undefined} what is to be written, if anything
 */
const differing = (wanted, has) => (wanted === undefined || wanted === has ? undefined : wanted);

/** @param {Record<string, unknown>} change */
const isEmpty = (change) => Object.values(change).every((value) => value === undefined);

/**
 * @template {Record<string, unknown>} T
 * @param {T} fields
 * @returns {Partial<T>} without those that are undefined
 */
const defined = (fields) =>
  /** @type {Partial<T>} */ (
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  );
