import { charsetOf, decodeText } from '../../../common/encodings.ts';
import { MillraceError } from '../../../common/errors.ts';
import { groupOf } from '../../../schema/ids.ts';
import type { DeviceEvent, EventStore } from '../../store/events.ts';
import { eventId, greaterStamp, msOfStamp, stampOf } from '../../store/index.ts';
import type { RegistryStore } from '../../store/registry/index.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { parseJsonText } from '../decode/json.ts';
import type { Outbox } from '../outbox.ts';
import type { Arrival } from '../pipeline.ts';
import type { Device } from './cache.ts';
import type { Registry } from './index.ts';
import type { ClockNotices } from './sessions.ts';
import { beginSession, type DeviceSession, endSession, isOver, nextStamp, readSession } from './sessions.ts';

type Status = { state: 'online' | 'offline'; session: DeviceSession };

/**
 * Reads `{"state", "session"}` or `{"online": true}`, or only the state as text, in upper or lower case. @throws
 * `malformed`
 */
export function readStatus(payload: Buffer, receivedAt: number, contentType?: string): Status {
  const text = decodeText(payload, charsetOf(contentType)).trim();
  const isJson = text.startsWith('{');
  const status = isJson
    ? (parseJsonText(text) as Record<string, unknown>)
    : { state: text, session: undefined };
  const state = stateOf(status);
  if (state === null) {
    const rule = 'must be online or offline, as in {"state": "online"} or as a text alone';
    throw new MillraceError('malformed', rule, { path: isJson ? 'state' : '' });
  }
  return { state, session: readSession(status.session, receivedAt) };
}

/** Returns null if the state is not clear. */
function stateOf({ state, online }: { state?: unknown; online?: unknown }): Status['state'] | null {
  const text = typeof state === 'string' ? state.toLowerCase() : state;
  if (text === undefined && typeof online === 'boolean') return online ? 'online' : 'offline';
  return text === 'online' || text === 'offline' ? text : null;
}

/**
 * The message that arrived last decides. A measurement or a birth proves that the device is online, whatever an earlier
 * status or last will reported. A last will that names an ended session is ignored, because the device has connected
 * again since. A measurement that arrived before the last will proves nothing, even if its commit comes after the last
 * will.
 */
export class Statuses {
  #registry;
  #store;
  #retry;
  #events;
  #clocks;
  #onState;

  constructor({
    registry,
    store,
    retry,
    events,
    clocks,
    onState,
  }: {
    registry: Registry;
    store: RegistryStore;
    retry: Retry;
    events: Events;
    clocks: ClockNotices;
    /** the state of a device is committed */
    onState: (device: Device) => void;
  }) {
    this.#registry = registry;
    this.#store = store;
    this.#retry = retry;
    this.#events = events;
    this.#clocks = clocks;
    this.#onState = onState;
  }

  async #commit(
    device: Device,
    change: { state: 'online' | 'offline' } & Partial<ReturnType<typeof beginSession>>,
    { as, receivedAt, began }: Arrival,
  ) {
    const stamp = nextStamp(device, receivedAt);
    await this.#retry.run(() => this.#store.writeStatus(device, change, stamp));
    // A retained status may be older than any measurement that is being processed, so it has no place in the order of messages.
    const stateBegan = as === 'retained' ? undefined : began;
    Object.assign(device, change, { stateStamp: stamp, stateBegan });
    if (change.session !== undefined) device.sessionStamp = stamp;
    this.#onState(device);
  }

  async #goOnline(device: Device, session: DeviceSession, arrival: Arrival) {
    const { as, receivedAt } = arrival;
    const isCurrent = session.id === device.session;
    if ((session.id !== null && isOver(device, session, arrival)) || isReplacedSince(device, arrival)) return;
    // The retained copy of the online status is older than the last will of its session, so it does not replace the state.
    if (as === 'retained' && device.state !== null && isCurrent) return;
    if (as === 'repeated' && device.state === 'online' && isCurrent) return;
    // A message without a session does not end the current session, so a last will that names this session still counts.
    const begun = session.id === null ? undefined : beginSession(device, session, receivedAt);
    // The event is written before the state. In the other order, a process that ended between the two writes would lose
    // the event: the redelivered message would find the state already written.
    const began = isCurrent ? arrivalOfSession(device, receivedAt) : receivedAt;
    const event = eventOf('online', session, begun?.clockOffset ?? 0, began);
    if (as !== 'retained') await this.#events.note(device, event);
    this.#clocks.note(device, begun?.clockOffset);
    await this.#commit(device, { state: 'online', ...begun }, arrival);
  }

  async #goOffline(device: Device, { id, start }: DeviceSession, arrival: Arrival) {
    const { as, receivedAt } = arrival;
    if (id !== null && device.endedSessions.includes(id)) return;
    if (isReplacedSince(device, arrival)) return;
    if (as !== 'retained') await this.#noteOffline(device, start, receivedAt);
    await this.#commit(device, { state: 'offline', endedSessions: endSession(device, id) }, arrival);
  }

  async #noteOffline(device: Device, start: number, receivedAt: number) {
    if (device.state === 'offline') return;
    const session = device.clockOffset === 0 ? Math.min(start, receivedAt) : receivedAt;
    await this.#events.note(device, { session, kind: 'offline', ts: receivedAt });
  }

  /** Settles when the status is committed. A retained message writes no event. */
  write(device: Device, { state, session }: Status, arrival: Arrival): Promise<void> {
    return this.#registry.serialize(device.id, () =>
      state === 'online'
        ? this.#goOnline(device, session, arrival)
        : this.#goOffline(device, session, arrival),
    );
  }

  /** The device sent no status: its sender reported its end, or has ended itself. */
  setOffline(device: Device, arrival: Arrival): Promise<void> {
    return this.#registry.serialize(device.id, async () => {
      if (device.state === 'offline') return;
      const { receivedAt } = arrival;
      await this.#noteOffline(device, device.session ?? receivedAt, receivedAt);
      await this.#commit(device, { state: 'offline' }, arrival);
    });
  }

  /** An offline device whose message arrived is online. `session`: the session that the message announces */
  setOnline(
    device: Device,
    arrival: Arrival,
    session: DeviceSession = { id: null, start: arrival.receivedAt, offset: null },
  ): Promise<void> {
    return this.#registry.serialize(device.id, async () => {
      const { receivedAt } = arrival;
      if (device.state !== 'offline' || isBeforeState(device, arrival)) return;
      const row = await this.#retry.run(() => this.#store.device(device));
      // Another process already received a message that proves the device to be online.
      if (row?.state === 'online') {
        Object.assign(device, { state: 'online', stateStamp: row.stateStamp });
        device.stamp = greaterStamp(device.stamp, row.stamp);
        return;
      }
      const offset = session.id === null ? 0 : device.clockOffset;
      const began = session.id === null ? receivedAt : arrivalOfSession(device, receivedAt);
      await this.#events.note(device, eventOf('online', session, offset, began));
      // The session of the device continues, so it must not count as ended: its next last will is valid. A clock that
      // was never set gives all sessions the same start.
      const endedSessions = device.endedSessions.filter((each) => each !== device.session);
      await this.#commit(device, { state: 'online', endedSessions }, arrival);
    });
  }
}

/** A later status arrived before this replay. */
const isReplacedSince = (device: Device, { as, receivedAt }: Arrival): boolean =>
  as === 'replayed' && (device.stateStamp ?? 0) > stampOf(receivedAt);

/** The message arrived before the message that set the state. */
const isBeforeState = (
  { stateBegan = Number.NEGATIVE_INFINITY }: Device,
  { began = stateBegan }: Arrival,
): boolean => began < stateBegan;

/**
 * The time of the event is the start of the session, or the receipt if the clock of the device is off. `arrivedAt`:
 * when the session was announced
 */
export function eventOf(
  kind: DeviceEvent['kind'],
  { start }: DeviceSession,
  clockOffset: number,
  arrivedAt: number,
): DeviceEvent {
  if (clockOffset === 0) return { session: start, kind, ts: start };
  return { session: arrivedAt, kind, ts: arrivedAt, clockOffset };
}

/** When the session of the device was last announced; `receivedAt` if no session is known. */
export const arrivalOfSession = (
  device: Pick<Device, 'sessionStamp'> | undefined,
  receivedAt: number,
): number => (device?.sessionStamp ? msOfStamp(device.sessionStamp) : receivedAt);

/**
 * Device, session and kind identify an event. So all processes that receive the same message write the same row, and a
 * repeated message changes nothing. Without a session, or with a clock that is off, the time of receipt replaces the
 * start of the session.
 */
export function createEvents({
  store,
  retry,
  outbox,
  groups,
}: {
  store: EventStore;
  retry: Retry;
  /** null: no feature publishes events */
  outbox: Outbox | null;
  /** value of `LATEST_GROUPS` */
  groups: number;
}) {
  return {
    note(device: Pick<Device, 'id' | 'bytes' | 'name'>, event: DeviceEvent): Promise<unknown> {
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

export type Events = ReturnType<typeof createEvents>;
