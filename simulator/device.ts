import { birthMessage, statusMessage } from './announcement.js';
import { createLink } from './mqtt/link.js';
import { toMessage } from './outgoing-message.js';

/** @import { DeviceDescription } from './announcement.js' */
/** @import { LinkOptions } from './mqtt/link.js' */
/** @import { OutgoingMessage } from './outgoing-message.js' */

/**
 * Creates a device with a connection of its own. After every connect, the device publishes its birth, its status `online`, and
 * its pending messages. At the end, the device publishes its status `offline`. If the connection breaks, the broker publishes
 * that status as the last will.
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

  /** @returns {Promise<void>} resolves after the broker has acknowledged the status */
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

    /**
     * Waits for the birth and the status `online` of the device.
     *
     * @returns {Promise<void>} resolves when the broker has acknowledged them
     */
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
