import { birthMessage, statusMessage } from '../announcement.js';
import { createLink } from '../mqtt/link.js';
import { toMessage } from '../outgoing-message.js';

/** @import { DeviceDescription } from '../announcement.js' */
/** @import { LinkOptions } from '../mqtt/link.js' */
/** @import { OutgoingMessage } from '../outgoing-message.js' */

/** Maximum number of pending announcements. A thousand devices behind one connection so register one after another. */
const ANNOUNCED_AT_ONCE = 16;

/**
 * Creates one connection that many devices share. Each device publishes on its own topics. A connection has only one last will,
 * so the devices have no last will. The gateway itself publishes that a device is online or offline. A killed gateway therefore
 * leaves its devices online.
 *
 * The gateway announces a device (birth, then online) right before the first message of the device. The registration of a fleet
 * is thus spread over these first messages. A device with its own connection announces itself after every reconnect. A device
 * behind a gateway does not, because its session continues.
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

  /**
   * @param {(member: typeof members[number]) => void} publish
   * @returns {Promise<void>} resolves when the broker has acknowledged all messages
   */
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

    /** @returns {number} devices whose announcement was queued or acknowledged */
    announced: () => members.reduce((sum, { session }) => sum + (session > 0 ? 1 : 0), 0),

    /** @returns {Promise<void>} resolves when the broker has acknowledged the announcement of every device */
    announceAll: () =>
      publishForEach((member) => {
        if (member.session === 0 && !stopping) announce(member);
      }),

    /** One sender for each device. All senders share the connection. */
    senders: members.map((member) => ({
      /** @param {OutgoingMessage} outgoing */
      publish(outgoing) {
        if (member.session === 0) announce(member);
        const message = toMessage(member.description.name, outgoing, ledger);
        meter.made(message.samples);
        link.push(message);
      },
    })),

    /** @param {Promise<unknown>} deadline settles when the wait for acknowledgements must end */
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
