import { parseTime } from '../../../common/times.js';

/** @import { Device } from './cache.js' */
/** @import { Arrival } from '../pipeline.js' */

/**
 * The sessions of devices. A device names its session by the start of its connection. The start identifies a
 * session but does not order sessions, because clocks of devices go back: the session that arrived last is
 * the current one.
 */

/** 2020-01-01 in epoch ms. An earlier time means that the clock of the device was never set. */
export const OLDEST_SESSION = 1_577_836_800_000;

/**
 * Smallest difference in ms between the clocks of a device and of Millrace that counts. A smaller one may be
 * the delay of the message.
 */
const CLOCK_TOLERANCE_MS = 300_000;

/** Range of CQL's `timestamp` and of `Date`, in epoch ms. */
const MAX_TIME = 8.64e15;

/**
 * Limit of remembered ended sessions. A device that restarts has a few sessions whose last wills may still
 * arrive.
 */
const MAX_ENDED = 16;

/**
 * The session that a message names.
 *
 * @typedef {object} DeviceSession
 * @property {number | null} id its start as the device gave it, epoch ms; null: the message names no session
 * @property {number} start epoch ms, never after the receipt; the receipt if the given start is not usable
 * @property {number | null} offset the clock of the device minus that of Millrace in ms, if the given start
 *   is impossible; else null
 */

/**
 * @param {unknown} given epoch ms or ISO 8601, from the device
 * @param {number} receivedAt epoch ms
 * @returns {DeviceSession}
 */
export function readSession(given, receivedAt) {
  const id = typeof given === 'string' ? parseTime(given) : given;
  if (typeof id !== 'number' || !Number.isInteger(id) || Math.abs(id) > MAX_TIME) {
    return { id: null, start: receivedAt, offset: null };
  }
  const isPossible = id >= OLDEST_SESSION && id <= receivedAt + CLOCK_TOLERANCE_MS;
  const start = isPossible ? Math.min(id, receivedAt) : receivedAt;
  return { id, start, offset: isPossible ? null : id - receivedAt };
}

/**
 * @param {Device} device
 * @param {DeviceSession} session
 * @param {Arrival} arrival of the message that announces it
 * @returns {boolean} whether a later session arrived before this message
 */
export function isOver(device, { id }, { as, receivedAt }) {
  if (as === 'live') return false;
  if (as === 'contradictory') return true;
  if (as === 'replayed') return (device.sessionStamp ?? 0) > receivedAt * 1000 && id !== device.session;
  return id !== null && device.endedSessions.includes(id);
}

/**
 * The columns of a device after a session began.
 *
 * @param {Device} device
 * @param {DeviceSession} session
 * @param {number} receivedAt epoch ms
 * @returns {{ session: number, endedSessions: number[], clockOffset: number }}
 */
export function beginSession(device, session, receivedAt) {
  const before = device.session;
  const id = session.id ?? before ?? receivedAt;
  const ended = device.endedSessions.filter((each) => each !== id);
  if (before !== null && before !== id) ended.push(before);
  return {
    session: id,
    endedSessions: ended.slice(-MAX_ENDED),
    clockOffset: offsetOf(device, session, receivedAt),
  };
}

/** @param {Device} device @param {number | null} id @returns {number[]} the ended sessions, after this one ended */
export const endSession = ({ endedSessions }, id) =>
  id === null ? endedSessions : [...endedSessions.filter((each) => each !== id), id].slice(-MAX_ENDED);

/**
 * Finds the clock offset of a device. Its clock is off if the start of its session is impossible, or earlier
 * than that of a session that arrived before. The clock counts as off until a session starts within
 * `CLOCK_TOLERANCE_MS` of its receipt.
 *
 * @param {Device} device
 * @param {DeviceSession} session
 * @param {number} receivedAt epoch ms
 * @returns {number} ms; 0: no difference is known
 */
function offsetOf(device, { id, offset }, receivedAt) {
  if (offset !== null) return offset;
  if (id === null) return device.clockOffset;
  const wentBack = device.session !== null && id < device.session;
  const isOff = (wentBack || device.clockOffset !== 0) && receivedAt - id > CLOCK_TOLERANCE_MS;
  return isOff ? id - receivedAt : 0;
}

/**
 * Returns the write timestamp of the next change of a device. The change that arrived last has the greatest
 * timestamp, even if two arrive in one ms or the clock of Millrace is set back. The deletes of a retirement
 * have its time, so later writes get greater timestamps.
 *
 * @param {Device} device
 * @param {number} receivedAt epoch ms
 * @returns {number} epoch µs
 */
export function nextStamp(device, receivedAt) {
  const afterRetirement = (device.retiredAt ?? 0) * 1000 + 2;
  device.stamp = Math.max(receivedAt * 1000, device.stamp + 1, afterRetirement);
  return device.stamp;
}

/**
 * Write timestamp of the attributes from a first message, in epoch µs. It is older than any time of receipt. So every birth overwrites them.
 */
const FIRST_MESSAGE_STAMP = OLDEST_SESSION * 1000 - 1;

/** @param {{ retiredAt: number | null }} device @returns {number} write timestamp of the attributes from its first message, in epoch µs */
export const firstMessageStamp = ({ retiredAt }) =>
  Math.max(FIRST_MESSAGE_STAMP, (retiredAt ?? 0) * 1000 + 1);
