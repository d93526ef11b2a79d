import { MillraceError } from '../../../common/errors.js';
import { groupOf } from '../../../schema/ids.js';
import { eventId } from '../../store/index.js';
import { parseJsonText, textOf } from '../decode/text.js';
import { beginSession, endSession, isOver, nextStamp, readSession } from './sessions.js';

/** @import { DeviceEvent, EventStore } from '../../store/events.js' */
/** @import { RegistryStore } from '../../store/registry/index.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { Device } from './cache.js' */
/** @import { ClockNotices } from './clock-notices.js' */
/** @import { Outbox } from '../outbox.js' */
/** @import { Registry } from './index.js' */
/** @import { Arrival } from '../pipeline.js' */
/** @import { DeviceSession } from './sessions.js' */

/** @typedef {{ state: 'online' | 'offline', session: DeviceSession }} Status */

/**
 * @param {Buffer} payload `{"state", "session"}`, or only the state as text
 * @param {number} receivedAt epoch ms
 * @returns {Status}
 * @throws {MillraceError} `malformed`
 */
export function readStatus(payload, receivedAt) {
  const text = textOf(payload).trim();
  const { state, session } = text.startsWith('{') ? parseJsonText(text) : { state: text, session: undefined };
  if (state !== 'online' && state !== 'offline') {
    const path = text.startsWith('{') ? 'state' : '';
    throw new MillraceError('malformed', 'must be online or offline', { path });
  }
  return { state, session: readSession(session, receivedAt) };
}

/**
 * Tracks whether devices are online. The message that arrived last decides. A measurement or a birth proves
 * that the device is online, whatever its status or last will reported before. A last will counts unless it
 * names an ended session, because the device has connected again since. A measurement that arrived before the
 * last will proves nothing, even if its commit comes after the last will.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {RegistryStore} deps.store
 * @param {Retry} deps.retry
 * @param {Events} deps.events
 * @param {ClockNotices} deps.clocks
 */
export function createStatuses({ registry, store, retry, events, clocks }) {
  /** @param {Device} device @param {{ state: 'online' | 'offline' } & Partial<ReturnType<typeof beginSession>>} change @param {Arrival} arrival */
  async function commit(device, change, { as, receivedAt, began }) {
    const stamp = nextStamp(device, receivedAt);
    await retry.run(() => store.writeStatus(device, change, stamp));
    // A retained status may be older than any measurement under way.
    const stateBegan = as === 'retained' ? undefined : began;
    Object.assign(device, change, { stateStamp: stamp, stateBegan });
    if (change.session !== undefined) device.sessionStamp = stamp;
  }

  /** @param {Device} device @param {Arrival} arrival @returns {boolean} whether a later status arrived before this replay */
  const isReplacedSince = (device, { as, receivedAt }) =>
    as === 'replayed' && (device.stateStamp ?? 0) > receivedAt * 1000;

  /**
   * @param {Device} device
   * @param {Arrival} arrival
   * @returns {boolean} whether the message arrived before the one that set the state
   */
  const isBeforeState = ({ stateBegan = Number.NEGATIVE_INFINITY }, { began = stateBegan }) =>
    began < stateBegan;

  /** @param {Device} device @param {DeviceSession} session @param {Arrival} arrival */
  async function goOnline(device, session, arrival) {
    const { as, receivedAt } = arrival;
    const isCurrent = session.id === device.session;
    if ((session.id !== null && isOver(device, session, arrival)) || isReplacedSince(device, arrival)) return;
    // The broker's copy of the announcement is older than the last will of its session.
    if (as === 'retained' && device.state !== null && isCurrent) return;
    if (as === 'repeated' && device.state === 'online' && isCurrent) return;
    // A message without a session leaves the session open to the last will that names it.
    const begun = session.id === null ? undefined : beginSession(device, session, receivedAt);
    // The event is written before the state. In the other order, a process that ended between the two writes
    // would lose the event: the repeated message would find the state already written.
    const began = isCurrent ? arrivalOfSession(device, receivedAt) : receivedAt;
    const event = eventOf('online', session, begun?.clockOffset ?? 0, began);
    if (as !== 'retained') await events.note(device, event);
    clocks.note(device, begun?.clockOffset);
    await commit(device, { state: 'online', ...begun }, arrival);
  }

  /** @param {Device} device @param {DeviceSession} session @param {Arrival} arrival */
  async function goOffline(device, { id, start }, arrival) {
    const { as, receivedAt } = arrival;
    if (id !== null && device.endedSessions.includes(id)) return;
    if (isReplacedSince(device, arrival)) return;
    if (as !== 'retained') await noteOffline(device, start, receivedAt);
    await commit(device, { state: 'offline', endedSessions: endSession(device, id) }, arrival);
  }

  /** @param {Device} device @param {number} start of its session, epoch ms @param {number} receivedAt epoch ms */
  async function noteOffline(device, start, receivedAt) {
    if (device.state === 'offline') return;
    const session = device.clockOffset === 0 ? Math.min(start, receivedAt) : receivedAt;
    await events.note(device, { session, kind: 'offline', ts: receivedAt });
  }

  return {
    /**
     * Writes a status.
     *
     * @param {Device} device
     * @param {Status} status
     * @param {Arrival} arrival a retained message is no event
     * @returns {Promise<void>} settles when it is committed
     */
    write: (device, { state, session }, arrival) =>
      registry.serialize(device.id, () =>
        state === 'online' ? goOnline(device, session, arrival) : goOffline(device, session, arrival),
      ),

    /**
     * Writes that a device is offline, although the device did not send it: its edge node reported it, or has
     * ended.
     *
     * @param {Device} device
     * @param {Arrival} arrival
     * @returns {Promise<void>} settles when it is committed
     */
    setOffline: (device, arrival) =>
      registry.serialize(device.id, async () => {
        if (device.state === 'offline') return;
        const { receivedAt } = arrival;
        await noteOffline(device, device.session ?? receivedAt, receivedAt);
        await commit(device, { state: 'offline' }, arrival);
      }),

    /**
     * Writes that an offline device is online, since a message from it arrived.
     *
     * @param {Device} device
     * @param {Arrival} arrival of the message
     * @param {DeviceSession} [session] that the message announces; default: none
     * @returns {Promise<void>} settles when it is committed
     */
    setOnline: (device, arrival, session = { id: null, start: arrival.receivedAt, offset: null }) =>
      registry.serialize(device.id, async () => {
        const { receivedAt } = arrival;
        if (device.state !== 'offline' || isBeforeState(device, arrival)) return;
        const row = await retry.run(() => store.device(device));
        // Another process already received a message that proves the device to be online.
        if (row?.state === 'online') {
          Object.assign(device, { state: 'online', stateStamp: row.stateStamp });
          device.stamp = Math.max(device.stamp, row.stamp);
          return;
        }
        const offset = session.id === null ? 0 : device.clockOffset;
        const began = session.id === null ? receivedAt : arrivalOfSession(device, receivedAt);
        await events.note(device, eventOf('online', session, offset, began));
        // The session of the device continues, so its next last will counts. A clock that was never set gives
        // all sessions one start.
        const endedSessions = device.endedSessions.filter((each) => each !== device.session);
        await commit(device, { state: 'online', endedSessions }, arrival);
      }),
  };
}

/**
 * @param {DeviceEvent['kind']} kind `birth` or `online`
 * @param {DeviceSession} session
 * @param {number} clockOffset of the device, ms; 0: no difference is known
 * @param {number} arrivedAt epoch ms of its receipt
 * @returns {DeviceEvent} at the start of the session, or at its receipt if the clock of the device is off
 */
export function eventOf(kind, { start }, clockOffset, arrivedAt) {
  if (clockOffset === 0) return { session: start, kind, ts: start };
  return { session: arrivedAt, kind, ts: arrivedAt, clockOffset };
}

/** @param {Pick<Device, 'sessionStamp'> | undefined} device @param {number} receivedAt epoch ms @returns {number} epoch ms at which its session was announced last */
export const arrivalOfSession = (device, receivedAt) =>
  device?.sessionStamp ? Math.floor(device.sessionStamp / 1000) : receivedAt;

/** @typedef {ReturnType<typeof createStatuses>} Statuses */

/**
 * Writes the events of devices: births, online, offline. Device, session and kind identify an event. So all
 * processes that receive the same message write the same row, and a repeated message changes nothing. Without
 * a session, or with a clock that is off, the time of receipt replaces the start of the session.
 *
 * @param {object} deps
 * @param {EventStore} deps.store
 * @param {Retry} deps.retry
 * @param {Outbox | null} deps.outbox null: nothing is streamed out
 * @param {number} deps.groups `LATEST_GROUPS`
 */
export function createEvents({ store, retry, outbox, groups }) {
  return {
    /**
     * @param {Pick<Device, 'id' | 'bytes' | 'name'>} device
     * @param {DeviceEvent} event
     * @returns {Promise<unknown>} settles when it is committed
     */
    note(device, event) {
      const { id, bytes, name } = device;
      const write = () => store.write(bytes, event);
      if (!outbox) return retry.run(write);
      return retry.run(() =>
        outbox.commit(
          {
            kind: 'event',
            id: eventId(id, event),
            group: groupOf(bytes, groups),
            device: { id, name },
            event,
          },
          write,
        ),
      );
    },
  };
}

/** @typedef {ReturnType<typeof createEvents>} Events */
