import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { PATHS, ruleOf } from '../decode/refusals.js';
import { blankSensor } from './cache.js';

/** @typedef {import('./cache.js').Device} Device */
/** @typedef {import('./cache.js').Sensor} Sensor */
/** @typedef {import('./birth-message.js').Birth} Birth */
/** @typedef {import('./birth-message.js').SensorBirth} SensorBirth */

/** @typedef {{ deviceName?: string, name?: string, type?: string, unit?: string, site?: string, intervalMs?: number }} Words */

/** @typedef {{ sensor: Sensor, isNew: boolean, words: Words }} Planned what is to be written of a sensor */

const LIMIT = 'registration_limit';

/**
 * Those sensors of a birth that the device has, or still has room for.
 *
 * @param {Device} device
 * @param {Pick<Birth, 'sensors' | 'pathOf'>} birth
 * @returns {{ taken: SensorBirth[], refused: import('../../store/dead-letters/writes.js').Refusals }}
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
