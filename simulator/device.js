import { birthMessage, statusMessage } from './announcement.js';
import { createLink } from './mqtt/link.js';
import { parcelMessage } from './parcel.js';

/** @import { DeviceDescription } from './announcement.js' */
/** @import { LinkOptions } from './mqtt/link.js' */
/** @import { Parcel } from './parcel.js' */

/**
 * A device with a connection of its own: on every connect it publishes its birth, then that it is online, then what it
 * owes; at the end, that it is offline. Its last will says so when it breaks.
 *
 * @param {LinkOptions & {
 *   description: DeviceDescription, clientId: string }} options
 */
export function createDevice({ description, ...options }) {
  const { meter, ledger } = options;
  /** @type {() => void} */
  let wentUp = () => {};
  /** @type {Promise<void>} */
  const up = new Promise((resolve) => {
    wentUp = resolve;
  });
  const link = createLink({
    ...options,
    will: (session) => statusMessage(description, 'offline', session),
    onUp(session) {
      say(birthMessage(description, session));
      say(statusMessage(description, 'online', session), wentUp);
    },
  });

  /** @param {{ topic: string, payload: string, retain?: boolean }} message @param {() => void} [onAcknowledged] */
  const say = ({ topic, payload, retain = false }, onAcknowledged) =>
    link.publish(topic, payload, { retain, ...(onAcknowledged ? { onAcknowledged } : {}) });

  /** @returns {Promise<void>} when the broker has taken our word that we leave */
  const sayOffline = () =>
    new Promise((resolve) => say(statusMessage(description, 'offline', link.session), resolve));

  return {
    start: link.start,
    whenOwingAtMost: link.whenOwingAtMost,
    release: link.release,

    get connected() {
      return link.connected;
    },

    get everConnected() {
      return link.everConnected;
    },

    /** It does so by itself. @returns {Promise<void>} when the broker knows it */
    announceAll: () => up,

    /** @param {Parcel} parcel */
    publish(parcel) {
      const message = parcelMessage(description.name, parcel, ledger);
      meter.made(message.samples);
      link.push(message);
    },

    /** @param {Promise<unknown>} deadline when to wait no longer */
    stop: (deadline) => link.stop(deadline, sayOffline),
  };
}

/** @typedef {ReturnType<typeof createDevice>} Device */
