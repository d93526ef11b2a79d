import { parseTime } from '../../../common/times.js';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { PATHS, ruleOf } from '../decode/refusals.js';
import { blankSensor } from './cache.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */
/** @import { RegistryStore } from '../../store/registry/index.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { Birth, SensorBirth } from './birth-message.js' */
/** @import { Device, Sensor } from './cache.js' */
/** @import { Registry } from './index.js' */

/**
 * Registers devices and sensors from births. It writes only attributes that differ from the registry. Their write timestamp is the start
 * of the session. The birth may be acknowledged after that.
 *
 * An attribute that has not changed since an older session keeps the write timestamp of that session. A late birth is from a session
 * before the newest one. Its attributes must not be written, because their write timestamp could be greater. Another process may not
 * know the newest session yet and write them. But each process receives every birth. A process that wrote late attributes sees a
 * difference when the newest birth arrives, and writes the right ones.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {RegistryStore} deps.store
 * @param {Retry} deps.retry
 * @param {() => number} deps.clock epoch ms
 */
export function createBirths({ registry, store, retry, clock }) {
  /** @param {Device} device @param {Description} birth @param {{ isNew: boolean, at: number }} options `at`: epoch ms of the session @returns {Promise<boolean>} whether anything was written */
  async function writeDevice(device, birth, { isNew, at }) {
    const attributes = changedAttributes(device, birth);
    if (Object.keys(attributes).length === 0) return false;
    const now = clock();
    const stamp = sessionStamp(device, at);
    const { site } = attributes;
    if (site !== undefined) await retry.run(() => store.indexDevice(device, site, now, stamp));
    const change = { ...attributes, registeredAt: isNew ? now : undefined };
    await retry.run(() => store.writeDevice(device, change, stamp));
    if (isNew) registry.countDevice();
    Object.assign(device, attributes);
    return true;
  }

  /** @param {Device} device @param {PlannedSensor[]} planned @param {number} at epoch ms of the session @returns {Promise<boolean>} whether anything was written */
  async function writeSensors(device, planned, at) {
    if (planned.length === 0) return false;
    const now = clock();
    const changes = planned.map(({ sensor, isNew, attributes }) => ({
      ...attributes,
      bytes: sensor.bytes,
      registeredAt: isNew ? now : undefined,
      writeTimestamp: sessionStamp(device, at),
    }));
    await registry.writeSensors(device, changes, now);
    for (const { sensor, attributes } of planned)
      device.sensors.set(sensor.id, Object.assign(sensor, attributes));
    return true;
  }

  return {
    /**
     * @param {Identity} identity
     * @param {Birth} birth
     * @returns {Promise<Refusals>} settles when the birth is committed, with the sensors above the limit of a device
     */
    register: (identity, birth) =>
      registry.serialize(identity.id, async () => {
        const found = await registry.findNow(identity);
        const device = found ?? (await registry.newDevice({ ...identity, name: null }));
        const newest = device.session ?? 0;
        const late = birth.session < newest;
        const { taken, refused } = admit(device, birth);
        const at = birth.session;
        const deviceWritten = !late && (await writeDevice(device, birth, { isNew: found === null, at }));
        // A late birth can only add unknown sensors.
        const planned = late ? planNew(device, taken) : planSensors(device, taken);
        const written = (await writeSensors(device, planned, at)) || deviceWritten;
        if (at > Math.max(newest, device.describedAt ?? 0)) registry.cache.keep(device);
        // This session is not the newest. Only the write timestamps in the database decide which attributes are valid.
        else if (written) registry.cache.forget(device.id);
        return refused;
      }),

    /**
     * Writes a description that a client sent over HTTP. It overwrites every session that began before now, and a later session
     * overwrites what its birth has another value for. It begins no session.
     *
     * @param {Identity} identity
     * @param {Pick<Description, 'site' | 'label'> & Pick<Birth, 'sensors'>} description
     * @returns {Promise<Refusals>} settles when it is committed, with the sensors above the limit of a device
     */
    describe: (identity, { sensors, ...description }) =>
      registry.serialize(identity.id, async () => {
        const found = await registry.findNow(identity);
        const device = found ?? (await registry.newDevice({ ...identity, name: null }));
        const { taken, refused } = admit(device, { sensors });
        const name = found ? undefined : (identity.name ?? undefined);
        const at = clock();
        await writeDevice(device, { ...description, name, describedAt: at }, { isNew: found === null, at });
        await writeSensors(device, planSensors(device, taken), at);
        // Another process may have written a newer session meanwhile.
        registry.cache.forget(device.id);
        return refused;
      }),
  };
}

/** @typedef {ReturnType<typeof createBirths>} Births */

/** Attributes of a device, from a birth or over HTTP. @typedef {{ name?: string, site?: string, label?: string, session?: number, describedAt?: number }} Description */

/** 2020-01-01 in epoch ms. An earlier time means that the clock of the device was never set. */
export const OLDEST_SESSION = 1_577_836_800_000;

/**
 * Write timestamp of the attributes from a first message, in epoch µs. It is older than any session. So every birth overwrites them,
 * also a birth whose session began before that message.
 */
const FIRST_MESSAGE_STAMP = OLDEST_SESSION * 1000 - 1;

// The deletes of a retirement have its time as write timestamp. A device that returns writes with greater timestamps.

/** @param {{ retiredAt: number | null }} device @returns {number} write timestamp of the attributes from its first message, in epoch µs */
export const firstMessageStamp = ({ retiredAt }) =>
  Math.max(FIRST_MESSAGE_STAMP, (retiredAt ?? 0) * 1000 + 1);

/**
 * @param {{ retiredAt: number | null }} device
 * @param {number} session epoch ms of its start
 * @returns {number} write timestamp of that session, in epoch µs
 */
export const sessionStamp = ({ retiredAt }, session) => Math.max(session * 1000, (retiredAt ?? 0) * 1000 + 2);

/**
 * The start of a session of a device. It is the write timestamp of births and statuses, so the newest session wins, in any order of
 * writes and processes. If one session writes two different values, the database keeps the greater one.
 *
 * @param {unknown} session epoch ms or ISO 8601, from the device
 * @param {number} receivedAt epoch ms
 * @returns {number} epoch ms, never after the time of receipt; the time of receipt if `session` is not usable
 */
export function sessionStart(session, receivedAt) {
  const start = typeof session === 'string' ? parseTime(session) : session;
  return typeof start === 'number' && Number.isInteger(start) && start >= OLDEST_SESSION
    ? Math.min(start, receivedAt)
    : receivedAt;
}

/** @typedef {{ deviceName?: string, name?: string, type?: string, unit?: string, site?: string, label?: string, intervalMs?: number }} Attributes */

/** A sensor with the attributes to write. @typedef {{ sensor: Sensor, isNew: boolean, attributes: Attributes }} PlannedSensor */

const LIMIT = 'registration_limit';

/**
 * Divides the sensors of a birth: the device has them already or has room for them, or they are above its limit.
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
export const changedAttributes = (device, { name, site, label, session, describedAt }) =>
  differing({ name, site, label, session, describedAt }, device);

/**
 * @param {Device} device with the attributes of the birth
 * @param {SensorBirth[]} born the sensors in the birth
 * @returns {PlannedSensor[]} all sensors with changes. The others may change too, because their rows contain the name and site of the
 *   device
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

/** @param {Device} device @param {SensorBirth[]} born @returns {PlannedSensor[]} the sensors that are new for the device */
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
 * @returns {{ [K in keyof T]?: NonNullable<T[K]> }} the given values that differ
 */
const differing = (wanted, current) =>
  /** @type {{ [K in keyof T]?: NonNullable<T[K]> }} */ (
    Object.fromEntries(
      Object.entries(wanted).filter(
        ([key, value]) => value !== undefined && value !== null && value !== current[key],
      ),
    )
  );
