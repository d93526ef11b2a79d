import { parseTime } from '../../../common/times.js';

/** Milliseconds of each unit of time. */
const TIME_UNITS = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };

/** @typedef {keyof typeof TIME_UNITS} TimeUnit */

/** Matches a text that ends with a zone, such as `Z` or `+02:00`. */
const HAS_ZONE = /(?:Z|[+-]\d\d:?(?:\d\d)?)$/i;
const HAS_CLOCK = /T\d\d/;

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Value of `zone` in a mapping: a text without a zone is then ignored as a time. */
export const REQUIRED = 'required';

/** @param {string} zone @returns {boolean} whether the IANA database has this zone, such as `Europe/Berlin` */
export function isZone(zone) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads the time of a payload: a number in a unit, such a number as a text, or ISO 8601. Blanks may stand
 * before the time of day and before the zone.
 *
 * @param {unknown} value
 * @param {{ unit: TimeUnit, zone: string }} rules `zone`: zone of texts that name no zone
 * @returns {number | null | undefined} epoch ms; undefined: there is no time, so the time of receipt counts; null: the time cannot be read
 */
export function readTime(value, { unit, zone }) {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'number') return Math.round(value * TIME_UNITS[unit]);
  if (typeof value !== 'string') return null;
  if (NUMBER.test(value)) return Math.round(Number(value) * TIME_UNITS[unit]);
  const text = value.replace(' ', 'T').replace(' ', '');
  const isLocal = !HAS_CLOCK.test(text) || !HAS_ZONE.test(text.slice(10));
  if (isLocal && zone === REQUIRED) return undefined;
  const time = parseTime(text);
  if (time === null || !isLocal || zone === 'UTC') return time;
  return fromLocal(time, zone);
}

/**
 * Converts a local time to epoch ms.
 *
 * @param {number} local local time, read as if it were UTC, in epoch ms
 * @param {string} zone
 * @returns {number} epoch ms
 */
function fromLocal(local, zone) {
  // The zone may change its offset between `local` and the result, so the offset is looked up again.
  const near = local - offsetOf(local, zone);
  return local - offsetOf(near, zone);
}

/** Formats by zone. The number is not limited, because a file of mappings has few zones. @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/**
 * @param {number} time epoch ms
 * @param {string} zone
 * @returns {number} ms by which the zone is ahead of UTC
 */
function offsetOf(time, zone) {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  if (!Number.isFinite(new Date(time).getTime())) return 0;
  const parts = Object.fromEntries(
    format.formatToParts(time).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const seconds = Math.floor(time / 1000) * 1000;
  return Date.UTC(year, month - 1, day, hour, minute, second) - seconds;
}
