/** Lengths of time, as addresses write them and as a reader chooses them. */

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 };

/** @typedef {{ value: string, label: string, title: string, ms: number }} Span */

/** What the chart offers. @type {Span[]} */
export const SPANS = [
  { value: '1m', label: '1 min', title: 'The last minute', ms: 60_000 },
  { value: '5m', label: '5 min', title: 'The last 5 minutes', ms: 300_000 },
  { value: '15m', label: '15 min', title: 'The last 15 minutes', ms: 900_000 },
  { value: '1h', label: '1 h', title: 'The last hour', ms: 3_600_000 },
  { value: '6h', label: '6 h', title: 'The last 6 hours', ms: 6 * 3_600_000 },
  { value: '1d', label: '1 d', title: 'The last day', ms: 86_400_000 },
  { value: '7d', label: '7 d', title: 'The last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', label: '30 d', title: 'The last 30 days', ms: 30 * 86_400_000 },
  { value: '1y', label: '1 y', title: 'The last 365 days', ms: UNITS_MS.y },
];

export const USUAL_SPAN_MS = 300_000;

/** Longer than anything is kept. */
const LONGEST_MS = 100 * UNITS_MS.y;

/** @param {string | null} text `5m`, `90s`, `1500ms`, 100 years at most @returns {number | null} ms; null: not a span */
export function parseSpan(text) {
  const [, digits, unit] = /^(\d{1,12})(ms|[smhdy])$/.exec(text ?? '') ?? [];
  const ms = Number(digits) * UNITS_MS[/** @type {keyof typeof UNITS_MS} */ (unit)];
  return ms > 0 && ms <= LONGEST_MS ? ms : null;
}

/** @param {number} ms whole @returns {string} in the largest unit that divides it */
export function writeSpan(ms) {
  const units = /** @type {(keyof typeof UNITS_MS)[]} */ (['y', 'd', 'h', 'm', 's']);
  const unit = units.find((one) => ms % UNITS_MS[one] === 0) ?? 'ms';
  return `${ms / UNITS_MS[unit]}${unit}`;
}

/** Steps of lengths that read well, in ms. */
const STEPS_MS = [
  1,
  10,
  100,
  ...[1, 5, 10, 30].map((seconds) => seconds * UNITS_MS.s),
  ...[1, 5, 10, 30].map((minutes) => minutes * UNITS_MS.m),
  ...[1, 6].map((hours) => hours * UNITS_MS.h),
  UNITS_MS.d,
];
/** A step is no larger than this part of a length: half of it is a few pixels of a chart. */
const UNSEEN = 0.02;

/** @param {number} ms @returns {number} a length near it that reads well, so near that nobody sees the difference */
export function roundSpan(ms) {
  const step = STEPS_MS.findLast((one) => one <= ms * UNSEEN) ?? 1;
  return Math.round(ms / step) * step;
}

/**
 * The next span that the chart offers.
 *
 * @param {number} ms
 * @param {-1 | 1} direction shorter, longer
 * @returns {number} ms; the same where there is none
 */
export function nextSpan(ms, direction) {
  const others = SPANS.filter((span) => (direction > 0 ? span.ms > ms : span.ms < ms));
  return (direction > 0 ? others[0] : others.at(-1))?.ms ?? ms;
}
