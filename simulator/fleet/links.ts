import { randomBytes } from 'node:crypto';
import { createDevice } from '../device.js';
import { brokerFor } from '../mqtt/broker.js';
import { createGateway } from './gateway.js';

/** @import { LinkOptions } from '../mqtt/link.js' */
/** @import { OutgoingMessage } from '../outgoing-message.js' */
/** @import { Gateway } from './gateway.js' */
/** @import { SimulatedDevice } from './devices.js' */

/** Maximum number of unacknowledged messages of one device: more than a constrained device would keep, and enough for a slow link. */
const DEVICE_WINDOW = 8;

/** Maximum number of unacknowledged messages of a gateway, which publishes for many devices. */
const GATEWAY_WINDOW = 64;

/** Maximum number of unacknowledged messages of a connection at a fixed rate. It is so high that no device waits for an acknowledgement. */
const OPEN_WINDOW = 1024;

/** Memory limit for the pending messages of all connections together, in bytes. */
const MAX_PENDING_BYTES = 256 * 2 ** 20;

/**
 * The part of a device or gateway that publishes the batches of one device.
 *
 * @typedef {{ publish: (message: OutgoingMessage) => void }} Sender
 */

/**
 * The part of a device or gateway that the fleet uses.
 *
 * @typedef {Pick<Gateway, 'start' | 'connected' | 'everConnected' | 'stop' | 'announceAll'>} FleetLink
 */

/**
 * Creates the connections of a fleet: one for each device, or fewer connections that the devices share evenly.
 *
 * @param {Omit<LinkOptions, 'limits'> & {
 *   devices: SimulatedDevice[], connections: number, buffer: number, open: boolean }} options
 *   buffer: maximum number of unsent batches of a device; open: the devices publish at a fixed rate and do not wait for
 *   acknowledgements
 * @returns {{ links: FleetLink[], senders: Sender[] }} `senders` has the order of the devices
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
