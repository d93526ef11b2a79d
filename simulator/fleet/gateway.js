import { birthMessage, statusMessage } from '../announcement.js';
import { createLink } from '../mqtt/link.js';
import { toMessage } from '../outgoing-message.js';

/** @import { DeviceDescription } from '../announcement.js' */
/** @import { LinkOptions } from '../mqtt/link.js' */
/** @import { OutgoingMessage } from '../outgoing-message.js' */

/** Announcements under way at once, so that a thousand devices behind one connection register one after another. */
const ANNOUNCED_AT_ONCE = 16;

/**
 * One connection that many devices share. Each device is published on its own topics. A connection has only one last will, so no device
 * has one: the gateway alone publishes that a device is online or offline, and a killed gateway leaves its devices online.
 *
 * A device is announced (birth, then online) right before its first message, so the registration of a fleet is spread over the first
 * messages of its devices. Unlike a device with its own connection, it is not announced again after a reconnect, because its session
 * continues.
 *
 * @param {LinkOptions & {
 *   descriptions: DeviceDescription[], clientId: string }} options
 */
export function createGateway({ descriptions, ...options }) {
  const { meter, ledger } = options;
  const link = createLink({ ...options, will: null, onUp: () => {} });
  const members = descriptions.map((description) => ({ description, session: 0 }));
  let stopping = false;

  /** @param {{ description: DeviceDescription, session: number }} member */
  function announce(member) {
    member.session = Date.now();
    const { description, session } = member;
    const onSettled = (/** @type {boolean} */ taken) => {
      if (!taken) member.session = 0;
    };
    link.push({ ...birthMessage(description, session), samples: 0, onSettled });
    link.push({ ...statusMessage(description, 'online', session), samples: 0, onSettled });
  }

  /** @param {(member: typeof members[number]) => void} publish @returns {Promise<void>} resolves when all is acknowledged */
  async function publishForEach(publish) {
    for (const member of members) {
      await link.whenPendingAtMost(ANNOUNCED_AT_ONCE);
      publish(member);
    }
    await link.whenPendingAtMost(0);
  }

  return {
    start: link.start,

    get connected() {
      return link.connected;
    },

    get everConnected() {
      return link.everConnected;
    },

    /** @returns {number} devices that are announced, or about to be */
    announced: () => members.reduce((sum, { session }) => sum + (session > 0 ? 1 : 0), 0),

    /** @returns {Promise<void>} when the broker knows every device */
    announceAll: () =>
      publishForEach((member) => {
        if (member.session === 0 && !stopping) announce(member);
      }),

    /** The connection through which each device publishes. */
    senders: members.map((member) => ({
      /** @param {OutgoingMessage} outgoing */
      publish(outgoing) {
        if (member.session === 0) announce(member);
        const message = toMessage(member.description.name, outgoing, ledger);
        meter.made(message.samples);
        link.push(message);
      },
    })),

    /** @param {Promise<unknown>} deadline when to wait no longer */
    stop(deadline) {
      stopping = true;
      return link.stop(deadline, () =>
        publishForEach(({ description, session }) => {
          if (session === 0) return;
          link.push({ ...statusMessage(description, 'offline', session), samples: 0, onSettled: () => {} });
        }),
      );
    },
  };
}

/** @typedef {ReturnType<typeof createGateway>} Gateway */
