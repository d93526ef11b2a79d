/** Before this, 2020-01-01, a device's clock was never set. */
const OLDEST_SESSION = 1_577_836_800_000;

/**
 * What a first message says of its device and sensors, which is little, is stamped with this, in epoch µs: older than
 * any session, so that every birth says more, also one whose session began before that message came.
 */
export const FIRST_MESSAGE_STAMP = OLDEST_SESSION * 1000 - 1;

/**
 * When a device's session began: what births and status are stamped with, so that the newest session wins whichever
 * process writes them, in whatever order. Of two different words of one session the database keeps the greater.
 *
 * @param {unknown} session epoch ms, as the device says
 * @param {number} receivedAt epoch ms
 * @returns {number} epoch ms; the time of receipt where the device says nothing usable, never later than that
 */
export const sessionStart = (session, receivedAt) =>
  typeof session === 'number' && Number.isInteger(session) && session >= OLDEST_SESSION
    ? Math.min(session, receivedAt)
    : receivedAt;
