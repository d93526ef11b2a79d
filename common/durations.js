const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 };

/**
 * @param {string} text a number with its unit: `500ms 1s 5m 1h 30d 1y`; a year has 365 days
 * @returns {number | null} ms, or null when this is no duration
 */
export function parseDuration(text) {
  const match = /^(\d+(?:\.\d+)?(?:e\d+)?)(ms|s|m|h|d|y)$/.exec(text.trim());
  if (!match) return null;
  const ms = Number(match[1]) * UNIT_MS[/** @type {keyof typeof UNIT_MS} */ (match[2])];
  return Number.isFinite(ms) ? ms : null;
}

/**
 * @param {number} ms
 * @returns {string} as `parseDuration` takes it, in the largest unit of which it is a whole number
 */
export function durationText(ms) {
  const [unit, size] = Object.entries(UNIT_MS).findLast(([, size]) => ms >= size && ms % size === 0) ?? [
    'ms',
    1,
  ];
  return `${ms / size}${unit}`;
}
