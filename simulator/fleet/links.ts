import { randomBytes } from 'node:crypto';
import { createDevice } from '../device.ts';
import { brokerFor } from '../mqtt/broker.ts';
import type { LinkOptions } from '../mqtt/link.ts';
import type { OutgoingMessage } from '../outgoing-message.ts';
import type { SimulatedDevice } from './devices.ts';
import { createGateway, type Gateway } from './gateway.ts';

/** Unacknowledged messages of one device: more than a constrained device would keep, and enough for a slow link. */
const DEVICE_WINDOW = 8;

/** Higher, because a gateway publishes for many devices. */
const GATEWAY_WINDOW = 64;

/** At a fixed rate. It is so high that no device waits for an acknowledgement. */
const OPEN_WINDOW = 1024;

const MAX_PENDING_BYTES = 256 * 2 ** 20;

export type Sender = { publish: (message: OutgoingMessage) => void };

type FleetLink = Pick<Gateway, 'start' | 'connected' | 'everConnected' | 'stop' | 'announceAll'>;

/**
 * One connection for each device, or fewer connections that the devices share evenly.
 * @param options buffer: maximum number of unsent batches of a device; open: the devices publish at a fixed rate and do not wait for
 *   acknowledgements
 * @returns `senders` has the order of the devices
 */
export function createLinks({
  devices,
  connections,
  buffer,
  open,
  ...options
}: Omit<LinkOptions, 'limits'> & {
  devices: SimulatedDevice[];
  connections: number;
  buffer: number;
  open: boolean;
}): { links: FleetLink[]; senders: Sender[] } {
  // Two simulators may use the same devices on one broker. If client ids were only names, each one would close the connections of
  // the other without end (MQTT 3.1.1, [MQTT-3.1.4-2]).
  const run = randomBytes(3).toString('hex');
  const shared = connections < devices.length;
  const perConnection = Math.ceil(devices.length / connections);
  const limits = {
    messages: buffer * perConnection,
    bytes: MAX_PENDING_BYTES / connections,
    window: open ? OPEN_WINDOW : shared ? GATEWAY_WINDOW : DEVICE_WINDOW,
  };
  if (!shared) {
    const links = devices.map((description) =>
      createDevice({
        ...options,
        broker: brokerFor(options.broker, description.name),
        limits,
        description,
        clientId: `${description.name}-${run}`,
      }),
    );
    return { links, senders: links };
  }
  const links: FleetLink[] = [];
  const senders: Sender[] = [];
  for (let from = 0; from < devices.length; from += perConnection) {
    const gateway = createGateway({
      ...options,
      limits,
      descriptions: devices.slice(from, from + perConnection),
      clientId: `gateway-${String(links.length + 1).padStart(4, '0')}-${run}`,
    });
    links.push(gateway);
    senders.push(...gateway.senders);
  }
  return { links, senders };
}
