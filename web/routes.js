/**
 * The views and their addresses. `VIEWS` of api/http/static.js has the same ones for the server.
 *
 * @typedef {{ view: 'fleet' } | { view: 'device', device: string }
 *   | { view: 'sensor', device: string, sensor: string }
 *   | { view: 'pipeline' } | { view: 'dead-letters' } | { view: 'not-found' }} Route
 */

/** Views of one address each, which the header leads to, by the first part of it. @type {Record<string, Route>} */
const ALONE = {
  pipeline: { view: 'pipeline' },
  'dead-letters': { view: 'dead-letters' },
};

/** @param {string} path @returns {Route} */
export function routeOf(path) {
  const parts = decode(path);
  if (parts === null) return { view: 'not-found' };
  if (parts.length === 0) return { view: 'fleet' };
  const [first = '', device = '', third, sensor = ''] = parts;
  if (parts.length === 1 && Object.hasOwn(ALONE, first)) return ALONE[first] ?? { view: 'not-found' };
  if (first !== 'devices' || !device) return { view: 'not-found' };
  if (parts.length === 2) return { view: 'device', device };
  if (parts.length === 4 && third === 'sensors' && sensor) return { view: 'sensor', device, sensor };
  return { view: 'not-found' };
}

/** @param {string} path @returns {string[] | null} its decoded segments; null when the encoding is broken */
function decode(path) {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/**
 * @param {string} device its id, or where that is not known its name
 * @returns {string} a browser takes `.` and `..` out of a path, however they are written: by such names devices are looked for
 */
export const deviceHref = (device) =>
  device === '.' || device === '..'
    ? `/?show=devices&name=${device}`
    : `/devices/${encodeURIComponent(device)}`;

/** @param {string} device id @param {string} sensor id @returns {string} */
export const sensorHref = (device, sensor) =>
  `/devices/${encodeURIComponent(device)}/sensors/${encodeURIComponent(sensor)}`;

/** @param {string} id @returns {string} one dead letter, opened */
export const deadLetterHref = (id) => `/dead-letters?id=${encodeURIComponent(id)}`;

/** The year 9999: what is later has more digits than ISO 8601 lets one write without agreeing on it. */
const LATEST_MS = 253_402_300_799_999;

/**
 * A time as an address has it. Around it there is room for ranges, zones and formats of any kind.
 *
 * @param {string | null} text ISO 8601 or epoch ms
 * @returns {number | null} epoch ms, from 1970 to the year 9999; null: none
 */
export function parseTime(text) {
  const ms = /^\d+$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return ms >= 0 && ms <= LATEST_MS ? ms : null;
}
