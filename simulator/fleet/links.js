import { randomBytes } from 'node:crypto';
import { createDevice } from '../device.js';
import { brokerFor } from '../mqtt/broker.js';
import { createGateway } from './gateway.js';

/** @import { LinkOptions } from '../mqtt/link.js' */
/** @import { OutgoingMessage } from '../outgoing-message.js' */
/** @import { Gateway } from './gateway.js' */
/** @import { SimulatedDevice } from './devices.js' */

/** Unacknowledged messages of one device; more than a constrained device would keep, and enough for a slow link. */
const DEVICE_WINDOW = 8;

/** Unacknowledged messages of a gateway, which speaks for many. */
const GATEWAY_WINDOW = 64;

/** At a fixed rate no device waits for an acknowledgement, as long as the memory suffices. */
const OPEN_WINDOW = 1024;

/** Bytes of pending messages of all connections. */
const MAX_PENDING_BYTES = 256 * 2 ** 20;

/** A device as its batches see it. @typedef {{ publish: (message: OutgoingMessage) => void }} Sender */

/** A connection as the fleet sees it. @typedef {Pick<Gateway, 'start' | 'connected' | 'everConnected' | 'stop' | 'announceAll'>} FleetLink */

/**
 * The connections of a fleet: one for each device, or fewer that the devices share evenly.
 *
 * @param {Omit<LinkOptions, 'limits'> & {
 *   devices: SimulatedDevice[], connections: number, buffer: number, open: boolean }} options
 *   buffer: most unsent batches of a device; open: at a fixed rate, whatever is acknowledged
 * @returns {{ links: FleetLink[], senders: Sender[] }} the senders in the order of the devices
 */
export function createLinks({ devices, connections, buffer, open, ...options }) {
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
  /** @type {FleetLink[]} */
  const links = [];
  /** @type {Sender[]} */
  const senders = [];
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
