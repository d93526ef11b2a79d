import type { EventEmitter } from 'node:events';
import { Aedes, type AedesOptions, type Client, type PublishPacket } from 'aedes';
import type { Packet } from 'mqtt-packet';
import mqttPacket from 'mqtt-packet';
import { type ErrorCode, refusalText } from '../../../common/errors.ts';
import { printable } from '../../../common/printable.ts';
import type { Outcome } from '../../ingest/pipeline.ts';
import type { Refusals } from '../../store/dead-letters.ts';

/** Reason codes of MQTT 5, section 2.4. aedes sends others too. */
export const REASONS = {
  success: 0x00,
  unwilling: 0x83,
  protocolError: 0x82,
  notAuthorized: 0x87,
  shuttingDown: 0x8b,
  takenOver: 0x8e,
  filter: 0x8f,
  unknownTopic: 0x90,
  receiveMaximum: 0x93,
  packetTooLarge: 0x95,
  quota: 0x97,
  format: 0x99,
};

/** A reason code of this value or more is an error. */
export const FIRST_ERROR = 0x80;

/** Announced in CONNACK. A client that exceeds it is disconnected. `connection-reader.ts` has the same limit for unsettled messages. */
export const RECEIVE_MAXIMUM = 64;

/** All other codes mean a wrong payload. */
const REASON_OF: Partial<Record<ErrorCode, number>> = {
  forbidden: REASONS.notAuthorized,
  unknown_device: REASONS.notAuthorized,
  unknown_sensor: REASONS.notAuthorized,
  registration_limit: REASONS.quota,
  too_large: REASONS.quota,
  rejected: REASONS.unwilling,
};

const MAX_REASON = 256;

export type Answer = { reasonCode: number; reason: string };

/** Returns null for success without a reason. `suggest` finds the topic that was meant, `hint` is for others. */
export function answerTo(
  outcome: Outcome,
  refused: Refusals,
  suggest: () => string | null,
  hint: string,
): Answer | null {
  if (outcome === 'unknown_topic') {
    const suggestion = suggest();
    const text = suggestion ? `did you mean ${suggestion}?` : `no topic of Millrace${hint}`;
    return { reasonCode: REASONS.unknownTopic, reason: shortened(`unknown_topic: ${text}`) };
  }
  const [first] = refused;
  if (!first) return null;
  const others = refused.length > 1 ? ` (and ${refused.length - 1} more)` : '';
  // The path may contain names that the device chose, so control characters are removed. A client closes its connection
  // if a text has U+0000 (MQTT-1.5.4-2), and would then send the message again.
  const reason = shortened(printable(`${first.code}: ${refusalText(first)}${others}`));
  if (outcome === 'accepted') return { reasonCode: REASONS.success, reason };
  return { reasonCode: REASON_OF[first.code] ?? REASONS.format, reason };
}

const shortened = (text: string) => (text.length > MAX_REASON ? `${text.slice(0, MAX_REASON - 1)}…` : text);

const OPTIONS = { protocolVersion: 5 };

/** Leaves the reason out if the client requested none, or the packet would be too large for it (MQTT-3.1.2-29, MQTT-3.4.2-2). */
export function acknowledgeWith(
  client: Client,
  { qos, messageId }: { qos: number; messageId?: number },
  { reasonCode, reason }: Answer,
  isTerse: boolean,
) {
  const cmd = qos === 2 ? 'pubrec' : 'puback';
  const packet = { cmd, messageId, reasonCode };
  const explained = generate({ ...packet, properties: { reasonString: reason } });
  const isTooLarge = explained.length > (client.maximumPacketSize ?? Number.POSITIVE_INFINITY);
  client.conn.write(isTerse || isTooLarge ? generate(packet) : explained);
}

/** Compares with the Maximum Packet Size of the client (MQTT-3.1.2-24). */
export const isTooLargeFor = ({ maximumPacketSize }: Client, publish: object) =>
  maximumPacketSize !== undefined && generate({ ...publish, messageId: 1 }).length > maximumPacketSize;

/** If a connection with unread bytes is destroyed, TCP resets it, and the client loses the DISCONNECT. */
const GRACE_MS = 500;

const leaving: WeakSet<Client> = new WeakSet();

/** A client of MQTT 5 receives a DISCONNECT with the reason code first. Earlier versions have no such packet. */
export function disconnect(client: Client, reasonCode: number) {
  const { conn } = client;
  if (client.version !== 5 || !client.connected || conn.destroyed) {
    conn.destroy();
    return;
  }
  if (leaving.has(client)) return;
  leaving.add(client);
  conn.end(generate({ cmd: 'disconnect', reasonCode }));
  const timer = setTimeout(() => conn.destroy(), GRACE_MS);
  conn.once('close', () => clearTimeout(timer));
}

/** No further packet of such a client is handled. */
export const isLeaving = (client: Client) => leaving.has(client);

const generate = (packet: object): Buffer => mqttPacket.generate(packet as Packet, OPTIONS);

/**
 * aedes 2.0.0-beta.1 was branched before 1.1.3, so it lacks the fix of GHSA-52qw-whmv-87c5: a client whose id or filter
 * is the name of a property of every object, such as `constructor`, ended the process.
 */
export class SessionlessBroker extends Aedes {
  constructor(options: AedesOptions) {
    super(options);
    Object.assign(this, { clients: Object.create(null), brokers: Object.create(null) });
    const internals = this as unknown as Internals;
    numberAtForwarding(internals);
    replaceAtOnce(internals);
  }

  publishFrom(client: Client, packet: PublishPacket) {
    const publish = this.publish as unknown as (
      packet: PublishPacket,
      client: Client,
      done: () => void,
    ) => void;
    // The type of `publish` in aedes lacks the parameter `client`.
    publish.call(this, packet, client, () => {});
  }

  /** No session outlives its connection, whatever a client requests. So no timer waits, and a last will is not delayed. */
  clampSessionExpiry(): number {
    return 0;
  }
}

interface Internals {
  counter: number;
  mq: { emit: (packet: { brokerCounter: number }, done: () => void) => unknown };
  clients: Record<string, Client | undefined>;
  registerClient: (client: Client) => void;
  unregisterClient: (client: Client) => void;
}

/**
 * For each subscriber, aedes drops a message as a duplicate if its number is not greater than the previous one. aedes
 * itself numbers a message before it waits for the persistence, as for retained messages and for QoS 1 and 2. So a
 * message was lost if a later message overtook it during the wait.
 */
function numberAtForwarding(aedes: Internals) {
  const emit = aedes.mq.emit.bind(aedes.mq);
  aedes.mq.emit = (packet, done) => {
    packet.brokerCounter = ++aedes.counter;
    return emit(packet, done);
  };
}

/**
 * aedes registers a newer connection with the same client id only after the older one has closed, and a closing connection removes its
 * client id even if a newer connection uses it. So two connections that signed in during the wait both stayed open under one id, against
 * MQTT-3.1.4-2, and `OwnConnections` counted them as one. Without persistent sessions the newer connection need not wait.
 */
function replaceAtOnce(aedes: Internals) {
  const register = aedes.registerClient.bind(aedes);
  const unregister = aedes.unregisterClient.bind(aedes);
  aedes.registerClient = (client) => {
    const older = aedes.clients[client.id];
    if (older) unregister(older);
    register(client);
    older?.disconnect({ reasonCode: REASONS.takenOver });
  };
  // aedes calls this function for each closing connection, even if a newer connection uses the client id.
  aedes.unregisterClient = (client) => {
    if (aedes.clients[client.id] === client) unregister(client);
  };
}

/** The Receive Maximum of a client that sets none (MQTT 5, 3.1.2.11.3). */
const UNLIMITED = 65_535;

/** The wildcard shares its level with another character. */
const MISPLACED_WILDCARD = /[^/][+#]|[+#][^/]/;

/** No client may subscribe to `$SYS` topics of the broker. */
const REFUSED_FILTER = '$SYS/refused';

/**
 * Checks and corrects packets before aedes handles them. aedes has no public hook at this point, so the private `_parser` is used.
 *
 * - Every property except the user property may occur only once (MQTT 5, 2.2.2.2). A client must not send a subscription
 *   identifier with a publish (MQTT-3.3.4-6). The parser makes a list of a repeated property, and aedes would store a
 *   list as topic alias forever.
 * - A Maximum Packet Size of 0 is a protocol error (MQTT 5, 3.1.2.11.4). aedes checks only whether the
 *   Receive Maximum is 0, and answers with CONNACK 0x82. So a Maximum Packet Size of 0 also sets the Receive
 *   Maximum to 0.
 * - A will delay is no property of the message that other clients receive. So the will delay is removed.
 * - aedes looks up filters as properties of objects, see `SessionlessBroker`. The filter `__proto__` cannot be a normal
 *   property of an object. It is replaced by a filter that is refused.
 */
export function guardPackets(client: Client) {
  const { _parser } = client as unknown as { _parser: EventEmitter };
  Object.assign(client, { subscriptions: Object.create(null), duplicates: Object.create(null) });
  _parser.prependListener('packet', (packet) => {
    if (packet.cmd === 'subscribe') guardSubscribe(client, packet);
    const { properties, will } = packet;
    if (will?.properties) {
      if (hasRepeated(will.properties)) reject(client, packet);
      will.properties.willDelayInterval = undefined;
    }
    if (!properties) return;
    if (packet.cmd === 'connect' && properties.maximumPacketSize === 0) properties.receiveMaximum = 0;
    const isIdentified = packet.cmd === 'publish' && properties.subscriptionIdentifier !== undefined;
    if (isIdentified || hasRepeated(properties)) reject(client, packet);
  });
}

/**
 * aedes does not count the unacknowledged messages to a client. So a client of MQTT 5 with a Receive Maximum is granted
 * QoS 0, which has no such limit. The client loses nothing: without sessions no message is sent twice.
 */
function guardSubscribe(
  client: Client,
  packet: { cmd: string; subscriptions: Array<{ topic: string; qos: number }> },
) {
  const isLimited = client.version === 5 && client.receiveMaximum < UNLIMITED;
  for (const subscription of packet.subscriptions) {
    if (subscription.topic === '__proto__') subscription.topic = REFUSED_FILTER;
    if (isLimited) subscription.qos = 0;
    // aedes accepts some misplaced wildcards (MQTT-4.7.1-2).
    if (client.version === 5 && MISPLACED_WILDCARD.test(subscription.topic))
      return reject(client, packet, REASONS.filter);
  }
}

/** aedes closes the connection for the changed type of the packet. */
function reject(client: Client, packet: { cmd: string }, reasonCode = REASONS.protocolError) {
  disconnect(client, reasonCode);
  packet.cmd = 'reserved';
}

function hasRepeated(properties: Record<string, unknown>) {
  for (const name in properties) if (Array.isArray(properties[name])) return true;
  return false;
}
