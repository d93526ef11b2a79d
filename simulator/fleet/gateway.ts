import { birthMessage, type DeviceDescription, statusMessage } from '../announcement.ts';
import { createLink, type LinkOptions } from '../mqtt/link.ts';
import { type OutgoingMessage, toMessage } from '../outgoing-message.ts';

/** Pending announcements. A thousand devices behind one connection so register one after another. */
const ANNOUNCED_AT_ONCE = 16;

/**
 * Many devices share one connection. Each device publishes on its own topics. A connection has only one last will, so the devices have no
 * last will. The gateway itself publishes that a device is online or offline. A killed gateway therefore leaves its devices online.
 *
 * The gateway announces a device (birth, then online) right before the first message of the device. The registration of a fleet is thus
 * spread over these first messages. A device with its own connection announces itself after every reconnect. A device behind a gateway does
 * not, because its session continues.
 */
export function createGateway({
  descriptions,
  ...options
}: LinkOptions & {
  descriptions: DeviceDescription[];
  clientId: string;
}) {
  const { meter, ledger } = options;
  const link = createLink({ ...options, will: null, onUp: () => {} });
  const members = descriptions.map((description) => ({ description, session: 0 }));
  let stopping = false;

  function announce(member: { description: DeviceDescription; session: number }) {
    member.session = Date.now();
    const { description, session } = member;
    const onSettled = (taken: boolean) => {
      if (!taken) member.session = 0;
    };
    link.push({ ...birthMessage(description, session), samples: 0, onSettled });
    link.push({ ...statusMessage(description, 'online', session), samples: 0, onSettled });
  }

  /** Resolves when the broker has acknowledged all messages. */
  async function publishForEach(publish: (member: (typeof members)[number]) => void): Promise<void> {
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

    announced: (): number => members.reduce((sum, { session }) => sum + (session > 0 ? 1 : 0), 0),

    /** Resolves when the broker has acknowledged all announcements. */
    announceAll: (): Promise<void> =>
      publishForEach((member) => {
        if (member.session === 0 && !stopping) announce(member);
      }),

    /** By device. All senders share the connection. */
    senders: members.map((member) => ({
      publish(outgoing: OutgoingMessage) {
        if (member.session === 0) announce(member);
        const message = toMessage(member.description.name, outgoing, ledger);
        meter.made(message.samples);
        link.push(message);
      },
    })),

    /** @param deadline settles when the wait for acknowledgements must end */
    stop(deadline: Promise<unknown>) {
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

export type Gateway = ReturnType<typeof createGateway>;
