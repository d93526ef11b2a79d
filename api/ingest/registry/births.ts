import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { PATHS, ruleOf } from '../decode/refusals.js';
import { blankSensor } from './cache.js';
import { beginSession, firstMessageStamp, isOver, nextStamp } from './sessions.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */
/** @import { RegistryStore } from '../../store/registry/index.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { Birth, SensorBirth } from './birth-message.js' */
/** @import { Device, Sensor } from './cache.js' */
/** @import { ClockNotices } from './clock-notices.js' */
/** @import { Registry } from './index.js' */
/** @import { Arrival } from '../pipeline.js' */
/** @import { DeviceSession } from './sessions.js' */

/**
 * Creates the service that registers devices and sensors from births. Only attributes that differ from the registry are
 * written. Their write timestamp is the time of receipt. So the birth that arrived last describes the device, whatever
 * the clock of the device shows. The birth may be acknowledged after these writes.
 *
 * A birth of an ended session may arrive again: repeated by the broker, retained, or replayed. Such a birth only adds
 * unknown sensors, with a write timestamp that every other birth overwrites. Several processes receive every birth in
 * the same order. So in each process the last write comes from the newest birth.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {RegistryStore} deps.store
 * @param {Retry} deps.retry
 * @param {() => number} deps.clock epoch ms
 * @param {ClockNotices} deps.clocks
 */
export function createBirths({ registry, store, retry, clock, clocks }) {
  /**
   * Writes the changed attributes of a device.
   *
   * @param {Device} device
   * @param {Description} birth
   * @param {{ isNew: boolean, stamp: number }} options `stamp`: write timestamp, epoch µs
   * @returns {Promise<boolean>} whether anything was written
   */
  async function writeDevice(device, birth, { isNew, stamp }) {
    const attributes = changedAttributes(device, birth);
    if (Object.keys(attributes).length === 0) return false;
    const now = clock();
    const { site } = attributes;
    if (site !== undefined) await retry.run(() => store.indexDevice(device, site, now, stamp));
    const change = { ...attributes, registeredAt: isNew ? now : undefined };
    await retry.run(() => store.writeDevice(device, change, stamp));
    if (isNew) registry.countDevice();
    Object.assign(device, attributes, birth.session === undefined ? {} : { sessionStamp: stamp });
    return true;
  }

  /**
   * Writes the changed attributes of sensors.
   *
   * @param {Device} device
   * @param {PlannedSensor[]} planned
   * @param {number} writeTimestamp epoch µs
   * @returns {Promise<boolean>} whether anything was written
   */
  async function writeSensors(device, planned, writeTimestamp) {
    if (planned.length === 0) return false;
    const now = clock();
    const changes = planned.map(({ sensor, isNew, attributes }) => ({
      ...attributes,
      bytes: sensor.bytes,
      registeredAt: isNew ? now : undefined,
      writeTimestamp,
    }));
    await registry.writeSensors(device, changes, now);
    for (const { sensor, isNew, attributes } of planned)
      device.sensors.set(sensor.id, Object.assign(sensor, attributes, isNew && { registeredAt: now }));
    return true;
  }

  return {
    /**
     * @param {Identity} identity
     * @param {Birth} birth
     * @param {Arrival} arrival
     * @returns {Promise<Refusals>} settles when the birth is committed, with a refusal for each sensor above
     *   the limit of a device
     */
    register: (identity, birth, arrival) =>
      registry.serialize(identity.id, async () => {
        const found = await registry.findNow(identity);
        const device = found ?? (await registry.newDevice({ ...identity, name: null }));
        const { taken, refused } = admit(device, birth);
        if (isOver(device, birth.session, arrival)) {
          const written = await writeSensors(device, planNew(device, taken), firstMessageStamp(device));
          // The write timestamps in the database decide which attributes are valid, so the device must be read again.
          if (written) registry.cache.forget(device.id);
          return refused;
        }
        const stamp = nextStamp(device, arrival.receivedAt);
        const begun = beginSession(device, birth.session, arrival.receivedAt);
        clocks.note(device, begun.clockOffset);
        // The write timestamp of the session shows when the session was announced. So a repeated birth must not write
        // the session again.
        const session =
          birth.session.id === null || begun.session !== device.session ? begun : { session: undefined };
        await writeDevice(device, { ...birth, ...session }, { isNew: found === null, stamp });
        await writeSensors(device, planSensors(device, taken), stamp);
        registry.cache.keep(device);
        return refused;
      }),

    /**
     * Writes a description that a client sent over HTTP. The description overwrites every earlier birth. A later birth
     * overwrites attributes for which it has another value. A description does not begin a session.
     *
     * @param {Identity} identity
     * @param {Pick<Description, 'site' | 'label'> & Pick<Birth, 'sensors'>} description
     * @returns {Promise<Refusals>} settles when the description is committed, with a refusal for each sensor above the
     *   limit of a device
     */
    describe: (identity, { sensors, ...description }) =>
      registry.serialize(identity.id, async () => {
        // The device is read again, because another process may have received a birth. Compared with an outdated cache
        // entry, the description could seem to change nothing.
        const found = await registry.reload(identity);
        const device = found ?? (await registry.newDevice({ ...identity, name: null }));
        const { taken, refused } = admit(device, { sensors });
        const name = found ? undefined : (identity.name ?? undefined);
        const at = clock();
        const stamp = nextStamp(device, at);
        await writeDevice(
          device,
          { ...description, name, describedAt: at },
          { isNew: found === null, stamp },
        );
        await writeSensors(device, planSensors(device, taken), stamp);
        // Another process may have written a newer session during these writes, so the device must be read again.
        registry.cache.forget(device.id);
        return refused;
      }),
  };
}

/** @typedef {ReturnType<typeof createBirths>} Births */

/** Attributes of a device, from a birth or over HTTP. @typedef {{ name?: string, site?: string, label?: string, describedAt?: number, session?: number, endedSessions?: number[], clockOffset?: number }} Description */

/** @typedef {{ deviceName?: string, name?: string, type?: string, unit?: string, site?: string, label?: string, intervalMs?: number }} Attributes */

/** A sensor with the attributes to write. @typedef {{ sensor: Sensor, isNew: boolean, attributes: Attributes }} PlannedSensor */

const LIMIT = 'registration_limit';

/**
 * Divides the sensors of a birth into accepted sensors and sensors above the limit of the device.
 *
 * @param {Device} device
 * @param {Pick<Birth, 'sensors' | 'pathOf'>} birth
 * @returns {{ taken: SensorBirth[], refused: Refusals }}
 */
export function admit(device, { sensors, pathOf = PATHS.birth }) {
  let room = MAX_SENSORS_PER_DEVICE - device.sensors.size;
  const fits = sensors.map(({ identity }) => device.sensors.has(identity.id) || room-- > 0);
  return {
    taken: sensors.filter((_, index) => fits[index]),
    refused: sensors
      .filter((_, index) => !fits[index])
      .map(({ index }) => ({ index, code: LIMIT, path: pathOf(index), rule: ruleOf(LIMIT) })),
  };
}

/**
 * @param {Device} device
 * @param {Description} birth
 */
export const changedAttributes = (device, birth) => {
  const { name, site, label, describedAt, session, endedSessions, clockOffset } = birth;
  const changes = differing({ name, site, label, describedAt }, device);
  return session === undefined ? changes : { ...changes, session, endedSessions, clockOffset };
};

/**
 * @param {Device} device the device, whose attributes are already those of the birth
 * @param {SensorBirth[]} born the accepted sensors of the birth
 * @returns {PlannedSensor[]} all sensors with changes. Sensors that the birth does not list may change too,
 *   because their rows contain the name and site of the device
 */
export function planSensors(device, born) {
  const mentioned = new Set(born.map(({ identity }) => identity.id));
  const others = [...device.sensors.values()].filter(({ id }) => !mentioned.has(id));
  return [
    ...planNew(device, born),
    ...born.flatMap((birth) => planKnown(device, device.sensors.get(birth.identity.id), birth)),
    ...others.flatMap((sensor) => planKnown(device, sensor, {})),
  ];
}

/** @param {Device} device @param {SensorBirth[]} born @returns {PlannedSensor[]} the sensors that the device does not have yet */
export const planNew = (device, born) =>
  born
    .filter(({ identity }) => !device.sensors.has(identity.id))
    .map((birth) => {
      const { id, bytes } = birth.identity;
      const sensor = blankSensor({ id, bytes, deviceName: null, name: null, site: null });
      return { sensor, isNew: true, attributes: differing(attributesOf(device, birth), sensor) };
    });

/** @param {Device} device @param {Sensor | undefined} sensor @param {Partial<SensorBirth>} birth @returns {PlannedSensor[]} */
function planKnown(device, sensor, birth) {
  const attributes = sensor && differing(attributesOf(device, birth), sensor);
  return attributes && Object.keys(attributes).length > 0 ? [{ sensor, isNew: false, attributes }] : [];
}

/** @param {Device} device @param {Partial<SensorBirth>} birth */
const attributesOf = (device, { name, type, unit, label, intervalMs }) => ({
  deviceName: device.name,
  name,
  type,
  unit,
  site: device.site,
  label,
  intervalMs,
});

/**
 * @template {Record<string, unknown>} T
 * @param {T} wanted undefined or null: no value is given
 * @param {Record<string, unknown>} current
 * @returns {{ [K in keyof T]?: NonNullable<T[K]> }} the given values that differ from the current values
 */
const differing = (wanted, current) =>
  /** @type {{ [K in keyof T]?: NonNullable<T[K]> }} */ (
    Object.fromEntries(
      Object.entries(wanted).filter(
        ([key, value]) => value !== undefined && value !== null && value !== current[key],
      ),
    )
  );
