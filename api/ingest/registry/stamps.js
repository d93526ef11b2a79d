import { parseTime } from '../../../common/times.js';

/** Before this, 2020-01-01, a device's clock was never set, in epoch ms. */
export const OLDEST_SESSION = 1_577_836_800_000;

/**
 * What a first message says of its device and sensors, which is little, is stamped with this, in epoch µs: older than
 * any session, so that every birth says more, also one whose session began before that message came.
 */
const FIRST_MESSAGE_STAMP = OLDEST_SESSION * 1000 - 1;

// What a retirement took away is never stamped later than its own time: whoever comes back writes above that.

/** @param {{ retiredAt: number | null }} device @returns {number} epoch µs for what its first message says of it */
export const firstMessageStamp = ({ retiredAt }) =>
  Math.max(FIRST_MESSAGE_STAMP, (retiredAt ?? 0) * 1000 + 1);

/**
 * @param {{ retiredAt: number | null }} device
 * @param {number} session epoch ms of its start
 * @returns {number} epoch µs for what is said in that session
 */
export const sessionStamp = ({ retiredAt }, session) => Math.max(session * 1000, (retiredAt ?? 0) * 1000 + 2);

/**
 * When a device's session began: what births and status are stamped with, so that the newest session wins whichever
 * process writes them, in whatever order. Of two different words of one session the database keeps the greater.
 *
 * @param {unknown} session epoch ms or ISO 8601, as the device says
 * @param {number} receivedAt epoch ms
 * @returns {number} epoch ms; the time of receipt where the device says nothing usable, never later than that
 */
export function sessionStart(session, receivedAt) {
  const at = typeof session === 'string' ? parseTime(session) : session;
  return typeof at === 'number' && Number.isInteger(at) && at >= OLDEST_SESSION
    ? Math.min(at, receivedAt)
    : receivedAt;
}
