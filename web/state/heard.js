/**
 * What the registry knows of a device is up to a minute old; a sample that was measured since then tells more.
 *
 * @param {string | null} lastSeen ISO 8601, as the registry knows it
 * @param {Iterable<{ ts: string | null }>} sensors of the device, with the times of their newest samples, ISO 8601; empty as good as null
 * @param {number} now epoch ms; what was measured later, by a clock that is ahead, tells nothing
 * @returns {string | null} ISO 8601
 */
export function heardAt(lastSeen, sensors, now) {
  const latest = new Date(now).toISOString();
  let heard = lastSeen;
  for (const { ts } of sensors) if (ts && ts <= latest && ts > (heard ?? '')) heard = ts;
  return heard;
}
