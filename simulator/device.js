import { birthMessage, statusMessage } from './announcement.js';
import { createLink } from './mqtt/link.js';
import { toMessage } from './outgoing-message.js';

/** @import { DeviceDescription } from './announcement.js' */
/** @import { LinkOptions } from './mqtt/link.js' */
/** @import { OutgoingMessage } from './outgoing-message.js' */

/**
 * A device with a connection of its own. On every connect it publishes its birth, its status `online`, then its pending messages. At the
 * end it publishes its status `offline`. The last will does so if the connection breaks.
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
      publishNow(birthMessage(description, session));
      publishNow(statusMessage(description, 'online', session), wentUp);
    },
  });

  /** @param {{ topic: string, payload: string, retain?: boolean }} message @param {() => void} [onAcknowledged] */
  const publishNow = ({ topic, payload, retain = false }, onAcknowledged) =>
    link.publish(topic, payload, { retain, ...(onAcknowledged ? { onAcknowledged } : {}) });

  /** @returns {Promise<void>} resolves after the acknowledgement */
  const publishOffline = () =>
    new Promise((resolve) => publishNow(statusMessage(description, 'offline', link.session), resolve));

  return {
    start: link.start,
    whenPendingAtMost: link.whenPendingAtMost,
    release: link.release,

    get connected() {
      return link.connected;
    },

    get everConnected() {
      return link.everConnected;
    },

    /** The device announces itself. @returns {Promise<void>} resolves when the broker knows it */
    announceAll: () => up,

    /** @param {OutgoingMessage} outgoing */
    publish(outgoing) {
      const message = toMessage(description.name, outgoing, ledger);
      meter.made(message.samples);
      link.push(message);
    },

    /** @param {Promise<unknown>} deadline */
    stop: (deadline) => link.stop(deadline, publishOffline),
  };
}

/** @typedef {ReturnType<typeof createDevice>} Device */
