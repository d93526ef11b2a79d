import type { Logger } from 'pino';
import { LogThrottle } from '../../../common/log-throttle.ts';
import { parseTime } from '../../../common/times.ts';
import { greaterStamp, type Stamp, stampAfter, stampOf } from '../../store/index.ts';
import type { Arrival } from '../pipeline.ts';
import type { Device } from './cache.ts';

/**
 * A device names its session by the start of its connection. The start identifies a session, but does not show which
 * session is newer, because clocks of devices may go back. The session that arrived last is the current session.
 */

/** 2020-01-01 in epoch ms. An earlier start means that the clock of the device was never set. */
export const OLDEST_SESSION = 1_577_836_800_000;

/** A smaller difference between the clocks of a device and of Millrace may be the delay of the message. */
const CLOCK_TOLERANCE_MS = 300_000;

/** The greatest time that CQL's `timestamp` and `Date` can store, in epoch ms. A session with a greater or smaller start is ignored. */
const MAX_TIME = 8.64e15;

/** After restarts of a device, the last wills of a few ended sessions may still arrive. The oldest is forgotten. */
const MAX_ENDED = 16;

export interface DeviceSession {
  /** start as the device gave it, epoch ms; null: the message names no session */
  id: number | null;
  /** epoch ms, never after the receipt; the time of receipt, if the given start is not usable */
  start: number;
  /** clock of the device minus clock of Millrace in ms, if the given start is impossible; else null */
  offset: number | null;
}

/** `given`: epoch ms or ISO 8601, from the device */
export function readSession(given: unknown, receivedAt: number): DeviceSession {
  const id = typeof given === 'string' ? parseTime(given) : given;
  if (typeof id !== 'number' || !Number.isInteger(id) || Math.abs(id) > MAX_TIME) {
    return { id: null, start: receivedAt, offset: null };
  }
  const isPossible = id >= OLDEST_SESSION && id <= receivedAt + CLOCK_TOLERANCE_MS;
  const start = isPossible ? Math.min(id, receivedAt) : receivedAt;
  return { id, start, offset: isPossible ? null : id - receivedAt };
}

/** A later session arrived before this message, which announces the session. */
export function isOver(device: Device, { id }: DeviceSession, { as, receivedAt }: Arrival): boolean {
  if (as === 'live') return false;
  if (as === 'contradictory') return true;
  if (as === 'replayed') return (device.sessionStamp ?? 0) > stampOf(receivedAt) && id !== device.session;
  return id !== null && device.endedSessions.includes(id);
}

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

export const endSession = ({ endedSessions }: Device, id: number | null): number[] =>
  id === null ? endedSessions : [...endedSessions.filter((each) => each !== id), id].slice(-MAX_ENDED);

/**
 * The clock of a device is wrong if the start of the session is impossible, or earlier than that of a session that
 * arrived before. It counts as wrong until a session starts within `CLOCK_TOLERANCE_MS` of its receipt. Returns ms; 0:
 * no difference is known.
 */
function offsetOf(device: Device, { id, offset }: DeviceSession, receivedAt: number): number {
  if (offset !== null) return offset;
  if (id === null) return device.clockOffset;
  const wentBack = device.session !== null && id < device.session;
  const isOff = (wentBack || device.clockOffset !== 0) && receivedAt - id > CLOCK_TOLERANCE_MS;
  return isOff ? id - receivedAt : 0;
}

/**
 * The change that arrived last has the greatest write timestamp, even if two changes arrive in one ms or the
 * clock of Millrace is set back. The deletes of a retirement have its time as their timestamp, so later writes need
 * greater timestamps.
 */
export function nextStamp(device: Device, receivedAt: number): Stamp {
  const afterRetirement = stampAfter(stampOf(device.retiredAt ?? 0), 2);
  const afterLast = stampAfter(device.stamp, 1);
  device.stamp = greaterStamp(greaterStamp(stampOf(receivedAt), afterLast), afterRetirement);
  return device.stamp;
}

/** Older than any time of receipt, so every birth overwrites the attributes that the first message registers. */
const FIRST_MESSAGE_STAMP = stampAfter(stampOf(OLDEST_SESSION), -1);

export const firstMessageStamp = ({ retiredAt }: { retiredAt: number | null }): Stamp =>
  greaterStamp(FIRST_MESSAGE_STAMP, stampAfter(stampOf(retiredAt ?? 0), 1));

/** All devices share one log line a minute, because a site without a time server has many devices with wrong clocks. */
const KEY = 'clocks';

export class ClockNotices {
  #logger;
  #throttle = new LogThrottle();

  constructor({ logger }: { logger: Logger }) {
    this.#logger = logger;
  }

  /** `device` as before the new session. `offsetMs`: its clock minus that of Millrace; 0 or undefined: no difference is known */
  note(
    { id, name, clockOffset }: Pick<Device, 'id' | 'name' | 'clockOffset'>,
    offsetMs: number | undefined = 0,
  ) {
    if (offsetMs === 0 || Math.sign(offsetMs) === Math.sign(clockOffset)) return;
    const sessions = this.#throttle.count(KEY);
    if (sessions === 0) return;
    this.#logger.warn(
      { device: name ?? id, offsetMs, sessions },
      `the clock of a device is ${offsetMs < 0 ? 'behind' : 'ahead'}; set it, or connect the device to a time server`,
    );
  }
}
