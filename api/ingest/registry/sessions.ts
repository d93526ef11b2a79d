import { parseTime } from '../../../common/times.ts';
import type { Arrival } from '../pipeline.ts';
import type { Device } from './cache.ts';

/**
 * The sessions of devices. A device names its session by the start of its connection. The start identifies a session,
 * but does not show which session is newer, because clocks of devices may go back. The session that arrived last is the
 * current session.
 */

/** Oldest possible start of a session: 2020-01-01 in epoch ms. An earlier time means that the clock of the device was never set. */
export const OLDEST_SESSION = 1_577_836_800_000;

/**
 * Tolerance for the difference between the clocks of a device and of Millrace, in ms. A smaller difference is ignored,
 * because it may be the delay of the message.
 */
const CLOCK_TOLERANCE_MS = 300_000;

/** Greatest time that CQL's `timestamp` and `Date` can store, in epoch ms. A session with a greater or smaller start is ignored. */
const MAX_TIME = 8.64e15;

/**
 * Limit of remembered ended sessions of a device. Above it the oldest is forgotten. After restarts of a device, the last
 * wills of a few ended sessions may still arrive.
 */
const MAX_ENDED = 16;

/** The session that a message names. */
export interface DeviceSession {
  /** start of the session as the device gave it, epoch ms; null: the message names no session */
  id: number | null;
  /**
   * start of the session, epoch ms, never after the receipt; if the given start is not usable, the time of
   * receipt
   */
  start: number;
  /** clock of the device minus clock of Millrace in ms, if the given start is impossible; else null */
  offset: number | null;
}

/** @param given epoch ms or ISO 8601, from the device @param receivedAt epoch ms */
export function readSession(given: unknown, receivedAt: number): DeviceSession {
  const id = typeof given === 'string' ? parseTime(given) : given;
  if (typeof id !== 'number' || !Number.isInteger(id) || Math.abs(id) > MAX_TIME) {
    return { id: null, start: receivedAt, offset: null };
  }
  const isPossible = id >= OLDEST_SESSION && id <= receivedAt + CLOCK_TOLERANCE_MS;
  const start = isPossible ? Math.min(id, receivedAt) : receivedAt;
  return { id, start, offset: isPossible ? null : id - receivedAt };
}

/**
 * @param arrival arrival of the message that announces the session
 * @returns whether a later session arrived before this message
 */
export function isOver(device: Device, { id }: DeviceSession, { as, receivedAt }: Arrival): boolean {
  if (as === 'live') return false;
  if (as === 'contradictory') return true;
  if (as === 'replayed') return (device.sessionStamp ?? 0) > receivedAt * 1000 && id !== device.session;
  return id !== null && device.endedSessions.includes(id);
}

/** Returns the session columns of a device after a session began. @param receivedAt epoch ms */
export function beginSession(
  device: Device,
  session: DeviceSession,
  receivedAt: number,
): { session: number; endedSessions: number[]; clockOffset: number } {
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

/** @param id session that ends @returns the ended sessions, including this session */
export const endSession = ({ endedSessions }: Device, id: number | null): number[] =>
  id === null ? endedSessions : [...endedSessions.filter((each) => each !== id), id].slice(-MAX_ENDED);

/**
 * Finds the clock offset of a device. The clock is wrong if the start of the session is impossible, or earlier than the
 * start of a session that arrived before. The clock counts as wrong until a session starts within `CLOCK_TOLERANCE_MS`
 * of its receipt.
 * @param receivedAt epoch ms
 * @returns ms; 0: no difference is known
 */
function offsetOf(device: Device, { id, offset }: DeviceSession, receivedAt: number): number {
  if (offset !== null) return offset;
  if (id === null) return device.clockOffset;
  const wentBack = device.session !== null && id < device.session;
  const isOff = (wentBack || device.clockOffset !== 0) && receivedAt - id > CLOCK_TOLERANCE_MS;
  return isOff ? id - receivedAt : 0;
}

/**
 * Returns the write timestamp of the next change of a device. The change that arrived last has the greatest timestamp,
 * even if two changes arrive in one ms or the clock of Millrace is set back. The deletes of a retirement have the time
 * of the retirement as their timestamp, so later writes need greater timestamps.
 * @param receivedAt epoch ms
 * @returns epoch µs
 */
export function nextStamp(device: Device, receivedAt: number): number {
  const afterRetirement = (device.retiredAt ?? 0) * 1000 + 2;
  device.stamp = Math.max(receivedAt * 1000, device.stamp + 1, afterRetirement);
  return device.stamp;
}

/**
 * Write timestamp of the attributes that the first message of a device registers, in epoch µs. It is older than any time of receipt, so
 * every birth overwrites these attributes.
 */
const FIRST_MESSAGE_STAMP = OLDEST_SESSION * 1000 - 1;

/** @returns write timestamp for attributes from the first message, in epoch µs */
export const firstMessageStamp = ({ retiredAt }: { retiredAt: number | null }): number =>
  Math.max(FIRST_MESSAGE_STAMP, (retiredAt ?? 0) * 1000 + 1);
