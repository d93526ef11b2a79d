/** An hour is closed, and may be packed, so long after its end; as schema/rules.js has it, which a test compares. */
export const PACK_DELAY_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Packing that is further back than this deserves a look; nothing is lost, only long charts are slower to read. */
export const BEHIND_MS = 6 * HOUR_MS;

/**
 * @param {string} packedUntil ISO 8601
 * @param {number} now epoch ms
 * @returns {{ until: number, newest: number, behindMs: number }} `newest`: end of the newest hour that may be packed
 */
export function packingOf(packedUntil, now) {
  const until = Date.parse(packedUntil);
  const newest = Math.floor((now - PACK_DELAY_MS) / HOUR_MS) * HOUR_MS;
  return { until, newest, behindMs: Math.max(0, newest - until) };
}
