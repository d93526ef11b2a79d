import { MillraceError } from '../../../common/errors.js';
import { groupOf } from '../../../schema/ids.js';
import { eventId } from '../../store/events.js';
import { parseJsonText, textOf } from '../decode/text.js';
import { sessionStamp, sessionStart } from './births.js';

/** @import { DeviceEvent, EventStore } from '../../store/events.js' */
/** @import { RegistryStore } from '../../store/registry/index.js' */
/** @import { Retry } from '../../store/retry.js' */
/** @import { Device } from './cache.js' */
/** @import { Outbox } from '../outbox.js' */
/** @import { Registry } from './index.js' */

/** @typedef {{ state: 'online' | 'offline', session: number }} Status `session`: its start in epoch ms */

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
  return { state, session: sessionStart(session, receivedAt) };
}

/**
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {RegistryStore} deps.store
 * @param {Retry} deps.retry
 * @param {Events} deps.events
 */
export function createStatuses({ registry, store, retry, events }) {
  return {
    /**
     * Writes a status. Its write timestamp is the start of the session, plus one microsecond for `offline`. So a will that arrives after
     * the `online` of the next session changes nothing.
     *
     * @param {Device} device
     * @param {Status} status
     * @param {number | null} receivedAt epoch ms; null for a retained message, which is no event
     * @returns {Promise<void>} settles when it is committed
     */
    write: (device, { state, session }, receivedAt) =>
      registry.serialize(device.id, async () => {
        const stamp = sessionStamp(device, session) + (state === 'offline' ? 1 : 0);
        if (stamp <= (device.stateStamp ?? 0)) return;
        // The event is written before the state. If the process ended between the two in the other order, the repeated message would
        // find the state written, and the event would be lost.
        if (receivedAt !== null) {
          const ts = state === 'offline' ? Math.max(receivedAt, session) : session;
          await events.note(device, { session, kind: state, ts });
        }
        await retry.run(() => store.writeStatus(device, state, stamp));
        Object.assign(device, { state, stateStamp: stamp });
      }),
  };
}

/** @typedef {ReturnType<typeof createStatuses>} Statuses */

/**
 * Writes the events of devices: births, online, offline. Device, session and kind identify an event. So all processes that receive the
 * same message write the same row, and a repeated message changes nothing.
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
