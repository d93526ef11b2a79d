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
