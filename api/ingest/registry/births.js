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
 * Registers what a birth tells. Only what differs from the registry is written, stamped with the session's start; the
 * birth may be acknowledged when this is done.
 *
 * A word that has not changed since an older session bears that one's stamp. So what a late birth says, of a session
 * before the newest, must not be written at all: its stamp could be the greater. Another process may not know of the
 * newest session yet, and write. But each process gets every birth, and one that has written a late word finds that
 * the newest session's differs when that comes: whoever was misled ends with writing what is right.
 *
 * @param {object} parts
 * @param {Registry} parts.registry
 * @param {RegistryStore} parts.store
 * @param {Retry} parts.retry
 * @param {() => number} parts.clock epoch ms
 */
export function createBirths({ registry, store, retry, clock }) {
  /** @param {Device} device @param {Birth} birth @param {boolean} isNew @returns {Promise<boolean>} whether anything was to be written */
  async function writeDevice(device, birth, isNew) {
    const words = deviceWords(device, birth);
    if (Object.keys(words).length === 0) return false;
    const now = clock();
    const stamp = sessionStamp(device, birth.session);
    const { site } = words;
    if (site !== undefined) await retry.run(() => store.indexDevice(device, site, now, stamp));
    const change = { ...words, registeredAt: isNew ? now : undefined };
    await retry.run(() => store.writeDevice(device, change, stamp));
    if (isNew) registry.countDevice();
    Object.assign(device, words);
    return true;
  }

  /** @param {Device} device @param {Planned[]} planned @param {Birth} birth @returns {Promise<boolean>} whether anything was to be written */
  async function writeSensors(device, planned, birth) {
    if (planned.length === 0) return false;
    const now = clock();
    const changes = planned.map(({ sensor, isNew, words }) => ({
      ...words,
      bytes: sensor.bytes,
      registeredAt: isNew ? now : undefined,
      writeTimestamp: sessionStamp(device, birth.session),
    }));
    await registry.writeSensors(device, changes, now);
    for (const { sensor, words } of planned) device.sensors.set(sensor.id, Object.assign(sensor, words));
    return true;
  }

  return {
    /**
     * @param {Identity} identity
     * @param {Birth} birth
     * @returns {Promise<Refusals>} when the registry has committed it: the
     *   sensors that are more than a device may have
     */
    register: (identity, birth) =>
      registry.inTurn(identity.id, async () => {
        const found = await registry.findNow(identity);
        const device = found ?? (await registry.newDevice({ ...identity, name: null }));
        const newest = device.session ?? 0;
        const late = birth.session < newest;
        const { taken, refused } = admit(device, birth);
        const deviceWritten = !late && (await writeDevice(device, birth, found === null));
        // All that a late birth can say is which sensors nobody knew of.
        const planned = late ? planNew(device, taken) : planSensors(device, taken);
        const written = (await writeSensors(device, planned, birth)) || deviceWritten;
        if (birth.session > newest) registry.cache.keep(device);
        // Of a session that is not newer than all others, only the database's stamps tell which words hold.
        else if (written) registry.cache.forget(device.id);
        return refused;
      }),
  };
}

/** @typedef {ReturnType<typeof createBirths>} Births */

/** Before this, 2020-01-01, a device's clock was never set, in epoch ms. */
export const OLDEST_SESSION = 1_577_836_800_000;

/**
 * What a first message says of its device and sensors, which is little, is stamped with this, in epoch µs: older than
 * any session, so that every birth says more, also one whose session began before that message came.
 */
const FIRST_MESSAGE_STAMP = OLDEST_SESSION * 1000 - 1;

// What a retirement took away is never stamped later than its own time: whoever comes back writes above that.

/** @param {{ retiredAt: number | null }} device @returns {number} epoch µs for what its first message says of it */
export const firstMessageStamp = ({ retiredAt }) =>
  Math.max(FIRST_MESSAGE_STAMP, (retiredAt ?? 0) * 1000 + 1);

/**
 * @param {{ retiredAt: number | null }} device
 * @param {number} session epoch ms of its start
 * @returns {number} epoch µs for what is said in that session
 */
export const sessionStamp = ({ retiredAt }, session) => Math.max(session * 1000, (retiredAt ?? 0) * 1000 + 2);

/**
 * When a device's session began: what births and status are stamped with, so that the newest session wins whichever
 * process writes them, in whatever order. Of two different words of one session the database keeps the greater.
 *
 * @param {unknown} session epoch ms or ISO 8601, as the device says
 * @param {number} receivedAt epoch ms
 * @returns {number} epoch ms; the time of receipt where the device says nothing usable, never later than that
 */
export function sessionStart(session, receivedAt) {
  const at = typeof session === 'string' ? parseTime(session) : session;
  return typeof at === 'number' && Number.isInteger(at) && at >= OLDEST_SESSION
    ? Math.min(at, receivedAt)
    : receivedAt;
}

/** @typedef {{ deviceName?: string, name?: string, type?: string, unit?: string, site?: string, intervalMs?: number }} Words */

/** @typedef {{ sensor: Sensor, isNew: boolean, words: Words }} Planned what is to be written of a sensor */

const LIMIT = 'registration_limit';

/**
 * Those sensors of a birth that the device has, or still has room for.
 *
 * @param {Device} device
 * @param {Pick<Birth, 'sensors' | 'pathOf'>} birth
 * @returns {{ taken: SensorBirth[], refused: Refusals }}
 */
export function admit(device, { sensors, pathOf = PATHS.birth }) {
  let room = MAX_SENSORS_PER_DEVICE - device.sensors.size;
  const fits = sensors.map(({ identity }) => device.sensors.has(identity.id) || room-- > 0);
  return {
    taken: sensors.filter((_, at) => fits[at]),
    refused: sensors
      .filter((_, at) => !fits[at])
      .map(({ index }) => ({ index, code: LIMIT, path: pathOf(index), rule: ruleOf(LIMIT) })),
  };
}

/**
 * @param {Device} device
 * @param {Birth} birth
 */
export const deviceWords = (device, { name, site, session }) => differing({ name, site, session }, device);

/**
 * @param {Device} device as the birth has made it
 * @param {SensorBirth[]} born those of its sensors that the birth tells of
 * @returns {Planned[]} what differs: of these, and of all others, since the device's name and site stand in their rows
 */
export function planSensors(device, born) {
  const mentioned = new Set(born.map(({ identity }) => identity.id));
  const others = [...device.sensors.values()].filter(({ id }) => !mentioned.has(id));
  return [
    ...planNew(device, born),
    ...born.flatMap((said) => planKnown(device, device.sensors.get(said.identity.id), said)),
    ...others.flatMap((sensor) => planKnown(device, sensor, {})),
  ];
}

/** @param {Device} device @param {SensorBirth[]} born @returns {Planned[]} those that the device has not had yet */
export const planNew = (device, born) =>
  born
    .filter(({ identity }) => !device.sensors.has(identity.id))
    .map((said) => {
      const { id, bytes } = said.identity;
      const sensor = blankSensor({ id, bytes, deviceName: null, name: null, site: null });
      return { sensor, isNew: true, words: differing(wordsOf(device, said), sensor) };
    });

/** @param {Device} device @param {Sensor | undefined} sensor @param {Partial<SensorBirth>} said @returns {Planned[]} */
function planKnown(device, sensor, said) {
  const words = sensor && differing(wordsOf(device, said), sensor);
  return words && Object.keys(words).length > 0 ? [{ sensor, isNew: false, words }] : [];
}

/** @param {Device} device @param {Partial<SensorBirth>} said */
const wordsOf = (device, { name, type, unit, intervalMs }) => ({
  deviceName: device.name,
  name,
  type,
  unit,
  site: device.site,
  intervalMs,
});

/**
 * @template {Record<string, unknown>} T
 * @param {T} wanted undefined or null where nothing is said
 * @param {Record<string, unknown>} has
 * @returns {{ [K in keyof T]?: NonNullable<T[K]> }} what is said and is not so yet
 */
const differing = (wanted, has) =>
  /** @type {{ [K in keyof T]?: NonNullable<T[K]> }} */ (
    Object.fromEntries(
      Object.entries(wanted).filter(
        ([key, word]) => word !== undefined && word !== null && word !== has[key],
      ),
    )
  );
