import { parseTime } from '../../../common/times.js';
import { OLDEST_SESSION } from './stamps.js';

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
