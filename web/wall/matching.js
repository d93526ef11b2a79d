import { FAR } from '../state/baseline.js';
import { OFFLINE, SILENT } from '../state/cell-state.js';

/** @import { FleetSensor } from '../state/fleet-types.js' */

/**
 * @typedef {'far' | 'silent' | 'offline'} Trouble what may be wrong with a sensor; in the address as `look`
 */

/** @type {Record<Trouble, (sensor: FleetSensor) => boolean>} */
const TROUBLES = {
  far: ({ look, score }) => look < SILENT && Math.abs(score) >= FAR,
  silent: ({ look }) => look === SILENT,
  offline: ({ look }) => look === OFFLINE,
};

/** Parameters of the address that the wall heeds. */
export const WALL_FILTERS = ['name', 'type', 'site', 'look', 'state'];

/**
 * Which sensors the address asks for: type and site as a whole, a text anywhere in the name of sensor or device, what is wrong with it.
 *
 * @param {URLSearchParams} query
 * @returns {((sensor: FleetSensor) => boolean) | null} null: all
 */
export function matcherOf(query) {
  const { name, type, site, look, state } = Object.fromEntries(
    WALL_FILTERS.map((filter) => [filter, query.get(filter) ?? '']),
  );
  if (!(name || type || site || look || state)) return null;
  const text = (name ?? '').toLowerCase();
  const trouble = TROUBLES[/** @type {Trouble} */ (look)];
  return (sensor) =>
    (!type || sensor.type === type) &&
    (!site || sensor.device.site === site) &&
    (!state || sensor.device.offline === (state === 'offline')) &&
    (!trouble || trouble(sensor)) &&
    (!text || sensor.name.toLowerCase().includes(text) || sensor.device.name.toLowerCase().includes(text));
}
