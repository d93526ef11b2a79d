import { birthMessage, type DeviceDescription, statusMessage } from './announcement.ts';
import { createLink, type LinkOptions } from './mqtt/link.ts';
import { type OutgoingMessage, toMessage } from './outgoing-message.ts';

/**
 * A device has a connection of its own. After every connect, it publishes its birth, its status `online`, and its pending messages. At the
 * end, it publishes its status `offline`. If the connection breaks, the broker publishes that status as the last will.
 */
export function createDevice({
  description,
  ...options
}: LinkOptions & {
  description: DeviceDescription;
  clientId: string;
}) {
  const { meter, ledger } = options;
  let wentUp: () => void = () => {};
  const up: Promise<void> = new Promise((resolve) => {
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

  const publishNow = (
    { topic, payload, retain = false }: { topic: string; payload: string; retain?: boolean },
    onAcknowledged?: () => void,
  ) => link.publish(topic, payload, { retain, ...(onAcknowledged ? { onAcknowledged } : {}) });

  const publishOffline = (): Promise<void> =>
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

    /** Resolves when the broker has acknowledged the birth and the status `online`. */
    announceAll: (): Promise<void> => up,

    publish(outgoing: OutgoingMessage) {
      const message = toMessage(description.name, outgoing, ledger);
      meter.made(message.samples);
      link.push(message);
    },

    stop: (deadline: Promise<unknown>) => link.stop(deadline, publishOffline),
  };
}
