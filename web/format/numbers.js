/** Numbers, amounts, and their units. */

/** What stands where a value is not known. */
export const NOTHING = '–';

const MOST_DECIMALS = 12;
/** Digits that a number holds; beyond them there is only the noise of its binary form. */
const DIGITS = 15;
const NUMBERS = Array.from(
  { length: MOST_DECIMALS + 1 },
  (_, decimals) =>
    new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);

/**
 * @param {number} value
 * @param {number} [most]
 * @returns {number} decimals worth showing: about four significant places, no trailing zeros
 */
export function decimalsOf(value, most = usualDecimals(Math.abs(value))) {
  return String(Number(value.toFixed(most))).split('.')[1]?.length ?? 0;
}

/** @param {number} size @returns {number} decimals worth showing of a number of this size */
export function usualDecimals(size) {
  if (size >= 10_000) return 0;
  if (size >= 1000) return 1;
  if (size >= 10) return 2;
  return size >= 1 ? 3 : 4;
}

/**
 * Decimals that suit all of some values, so that a changing value does not jump. Where the values lie close together
 * (a position, a tick of a zoomed axis), there are enough to tell them apart by a hundredth of their spread.
 *
 * @param {number[]} values
 * @returns {number}
 */
export function decimalsFor(values) {
  const spread = values.length > 1 ? Math.max(...values) - Math.min(...values) : 0;
  const needed = spread > 0 ? Math.ceil(2 - Math.log10(spread)) : 0;
  let decimals = 0;
  for (const value of values) {
    const size = Math.abs(value);
    const held = DIGITS - Math.max(Math.ceil(Math.log10(size || 1)), 1);
    const most = Math.max(Math.min(needed, held, MOST_DECIMALS), usualDecimals(size));
    decimals = Math.max(decimals, decimalsOf(value, most));
  }
  return decimals;
}

/**
 * @param {number | null | undefined} value
 * @param {number} [decimals]
 * @returns {string}
 */
export function formatNumber(value, decimals) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  // Who asks for decimals wants to tell values apart: a counter has many digits that stay, and some that go on.
  const text =
    size >= (decimals === undefined ? 1e12 : 1e15) || (size > 0 && size < 1e-4 && !(decimals && decimals > 4))
      ? value.toExponential(2)
      : (NUMBERS[Math.min(decimals ?? decimalsOf(value), MOST_DECIMALS)]?.format(value) ?? NOTHING);
  return text.replaceAll('-', '−');
}

/**
 * Numbers of an axis: as many places as tell one from the next, in one form.
 *
 * @param {number[]} ticks
 * @returns {string[]}
 */
export function formatTicks(ticks) {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  const step = Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0));
  if (largest < 1e15 && (step === 0 || step >= 1e-11)) {
    const decimals = decimalsFor(ticks);
    return ticks.map((value) => formatNumber(Math.abs(value) < step / 1e6 ? 0 : value, decimals));
  }
  const places = step > 0 ? Math.min(Math.max(Math.ceil(Math.log10(largest / step)), 0), DIGITS) : 2;
  return ticks.map((value) => value.toExponential(places).replaceAll('-', '−'));
}

/** @param {number | null | undefined} value @returns {string} a whole number */
export const formatCount = (value) => formatNumber(value, 0);

/** @param {number | null | undefined} perSecond @returns {string} */
export const formatRate = (perSecond) =>
  formatNumber(perSecond, perSecond && Math.abs(perSecond) < 10 && !Number.isInteger(perSecond) ? 1 : 0);

/** @param {number | null | undefined} ms @returns {string} without its unit */
export const formatMs = (ms) => formatNumber(ms, ms !== null && ms !== undefined && ms >= 100 ? 0 : 1);

/** @param {number} bytes @returns {string} with its unit: `91 bytes`, `64 KiB`, `1.5 MiB` */
export function formatBytes(bytes) {
  if (bytes < 1024) return formatCounted(bytes, 'byte');
  const [size, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${formatNumber(size, size < 10 && !Number.isInteger(size) ? 1 : 0)} ${unit}`;
}

/**
 * @param {number} count
 * @param {string} one what it is one of
 * @param {string} [many]
 * @returns {string} `1 sensor`, `12 sensors`, `2 processes`
 */
export const formatCounted = (count, one, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Units as devices send them (SenML, RFC 8428, and UCUM) to what people read. @type {Record<string, string>} */
const UNITS = {
  Cel: '°C',
  '%RH': '% RH',
  '/': '',
  lat: '° N',
  lon: '° E',
  deg: '°',
  'beat/min': 'bpm',
  beats: 'beats',
  '/min': '/min',
  '1/min': '/min',
  'm/s2': 'm/s²',
  m2: 'm²',
  m3: 'm³',
};

/** @param {string | null | undefined} unit @returns {string} */
export const formatUnit = (unit) => (unit ? (UNITS[unit] ?? unit) : '');
