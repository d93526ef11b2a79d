/** Before this, 2020-01-01, a device's clock was never set. */
const OLDEST_SESSION = 1_577_836_800_000;

/**
 * When a device's session began: what births and status are stamped with, so that the newest session wins whichever
 * process writes them, in whatever order.
 *
 * @param {unknown} session epoch ms, as the device says
 * @param {number} receivedAt epoch ms
 * @returns {number} epoch ms; the time of receipt where the device says nothing usable, never later than that
 */
export const sessionStart = (session, receivedAt) =>
  typeof session === 'number' && Number.isInteger(session) && session >= OLDEST_SESSION
    ? Math.min(session, receivedAt)
    : receivedAt;
