import { Aedes } from 'aedes';
import mqttPacket from 'mqtt-packet';
import { refusalText } from '../../../common/errors.js';
import { printable } from '../../../common/printable.js';
import { suggestTopic } from '../../../schema/topic-suggestion.js';

/** @import { EventEmitter } from 'node:events' */
/** @import { AedesOptions, Client, PublishPacket } from 'aedes' */
/** @import { Packet } from 'mqtt-packet' */
/** @import { ErrorCode } from '../../../common/errors.js' */
/** @import { Outcome } from '../../ingest/pipeline.js' */
/** @import { Refusals } from '../../store/dead-letters/writes.js' */

/**
 * Reason codes of MQTT 5 (section 2.4) that this broker sends itself. aedes sends further ones.
 */
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

/**
 * Limit of unacknowledged messages of QoS 1 and 2 from a client of MQTT 5. A connection with as many
 * unsettled messages is not read further anyway (`connection-reader.js`).
 */
export const RECEIVE_MAXIMUM = 64;

/** Reason codes of refused measurements and births. All other codes mean a wrong payload. @type {Partial<Record<ErrorCode, number>>} */
const REASON_OF = {
  forbidden: REASONS.notAuthorized,
  unknown_device: REASONS.notAuthorized,
  unknown_sensor: REASONS.notAuthorized,
  registration_limit: REASONS.quota,
  too_large: REASONS.quota,
  rejected: REASONS.unwilling,
};

/** Longest reason string, in characters. */
const MAX_REASON = 256;

/** @typedef {{ reasonCode: number, reason: string }} Answer to a publish */

/**
 * The answer to a publish, other than plain success.
 *
 * @param {Outcome} outcome
 * @param {Refusals} refused elements of the message
 * @param {string} topic
 * @returns {Answer | null} null: everything is accepted
 */
export function answerTo(outcome, refused, topic) {
  if (outcome === 'unknown_topic') {
    const suggestion = suggestTopic(topic);
    const hint = suggestion
      ? `did you mean ${suggestion}?`
      : 'no topic of Millrace, and no mapping reads it; add one to MQTT_MAPPINGS';
    return { reasonCode: REASONS.unknownTopic, reason: shortened(`unknown_topic: ${hint}`) };
  }
  const [first] = refused;
  if (!first) return null;
  const others = refused.length > 1 ? ` (and ${refused.length - 1} more)` : '';
  // The path may contain names that the device chose. A client closes its connection if a text has U+0000
  // (MQTT-1.5.4-2), and would then send the message again.
  const reason = shortened(printable(`${first.code}: ${refusalText(first)}${others}`));
  if (outcome === 'accepted') return { reasonCode: REASONS.success, reason };
  return { reasonCode: REASON_OF[first.code] ?? REASONS.format, reason };
}

/** @param {string} text */
const shortened = (text) => (text.length > MAX_REASON ? `${text.slice(0, MAX_REASON - 1)}…` : text);

const OPTIONS = { protocolVersion: 5 };

/**
 * Sends the PUBACK of QoS 1 or the PUBREC of QoS 2, with a reason. The reason string is left out if the
 * client requested none, or if the packet would be larger than the client accepts (MQTT-3.1.2-29,
 * MQTT-3.4.2-2).
 *
 * @param {Client} client of MQTT 5
 * @param {{ qos: number, messageId?: number }} publish
 * @param {Answer} answer
 * @param {boolean} isTerse the client requested no reason strings
 */
export function acknowledgeWith(client, { qos, messageId }, { reasonCode, reason }, isTerse) {
  const cmd = qos === 2 ? 'pubrec' : 'puback';
  const packet = { cmd, messageId, reasonCode };
  const explained = generate({ ...packet, properties: { reasonString: reason } });
  const isTooLarge = explained.length > (client.maximumPacketSize ?? Number.POSITIVE_INFINITY);
  client.conn.write(isTerse || isTooLarge ? generate(packet) : explained);
}

/** Whether a client of MQTT 5 does not accept a message of this size (MQTT-3.1.2-24). @param {Client} client @param {object} publish */
export const isTooLargeFor = ({ maximumPacketSize }, publish) =>
  maximumPacketSize !== undefined && generate({ ...publish, messageId: 1 }).length > maximumPacketSize;

/**
 * Time in ms in which a client may read a DISCONNECT. A connection that is closed with unread bytes is reset,
 * and the client loses the DISCONNECT.
 */
const GRACE_MS = 500;

/** Clients that have received a DISCONNECT. @type {WeakSet<Client>} */
const leaving = new WeakSet();

/**
 * Closes a connection. A client of MQTT 5 receives a DISCONNECT with the reason code first. Earlier versions have no such packet.
 *
 * @param {Client} client
 * @param {number} reasonCode
 */
export function disconnect(client, reasonCode) {
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

/**
 * Whether the connection of a client is being closed, so that no further packet of it is handled.
 *
 * @param {Client} client
 */
export const isLeaving = (client) => leaving.has(client);

/** @param {object} packet @returns {Buffer} */
const generate = (packet) => mqttPacket.generate(/** @type {Packet} */ (packet), OPTIONS);

/**
 * aedes without sessions, hardened. Version 2.0.0-beta.1 was branched before 1.1.3, so it lacks the fix of
 * GHSA-52qw-whmv-87c5. A client whose id or filter is the name of a property of every object, such as
 * `constructor`, ended the process.
 */
export class SessionlessBroker extends Aedes {
  /** @param {AedesOptions} options */
  constructor(options) {
    super(options);
    Object.assign(this, { clients: Object.create(null), brokers: Object.create(null) });
    numberAtForwarding(/** @type {any} */ (this));
    replaceAtOnce(/** @type {any} */ (this));
  }

  /** Forwards a message of a client to the others. @param {Client} client @param {PublishPacket} packet */
  publishFrom(client, packet) {
    const publish = /** @type {(packet: PublishPacket, client: Client, done: () => void) => void} */ (
      /** @type {unknown} */ (this.publish)
    );
    // The types of aedes lack the client.
    publish.call(this, packet, client, () => {});
  }

  /**
   * Limits the session expiry to 0. There are no sessions, so no session outlives its connection, whatever a
   * client requests. CONNACK reports it. No timer waits for the end of a session, and a last will is not
   * delayed.
   *
   * @returns {number} s
   */
  clampSessionExpiry() {
    return 0;
  }
}

/**
 * Numbers each message when it is forwarded. For each subscriber, aedes drops a message as a duplicate if its
 * number is not greater than the last one. aedes itself numbers a message before it waits for the
 * persistence, as for retained messages and for QoS 1 and 2. So a message was lost if a later one overtook it
 * during the wait.
 *
 * @param {{ counter: number, mq: { emit: (packet: { brokerCounter: number }, done: () => void) => unknown } }} aedes
 *   private members of aedes
 */
function numberAtForwarding(aedes) {
  const emit = aedes.mq.emit.bind(aedes.mq);
  aedes.mq.emit = (packet, done) => {
    packet.brokerCounter = ++aedes.counter;
    return emit(packet, done);
  };
}

/**
 * Replaces a connection at once when another one signs in with its client id. aedes registers the newer
 * connection after the older one has closed, and a closing connection removes its id even if a newer one has
 * it. So two connections that signed in meanwhile both stayed open under one id (MQTT-3.1.4-2), and
 * `OwnConnections` counted them as one. Without sessions the newer connection need not wait.
 *
 * @param {{ clients: Record<string, Client | undefined>, registerClient: (client: Client) => void, unregisterClient: (client: Client) => void }} aedes
 *   private members of aedes
 */
function replaceAtOnce(aedes) {
  const register = aedes.registerClient.bind(aedes);
  const unregister = aedes.unregisterClient.bind(aedes);
  aedes.registerClient = (client) => {
    const older = aedes.clients[client.id];
    if (older) unregister(older);
    register(client);
    older?.disconnect({ reasonCode: REASONS.takenOver });
  };
  // aedes calls this function for each closing connection, even if a newer one has the id.
  aedes.unregisterClient = (client) => {
    if (aedes.clients[client.id] === client) unregister(client);
  };
}

/** The Receive Maximum of a client that sets none (3.1.2.11.3). */
const UNLIMITED = 65_535;

/** A wildcard that shares its level with another character. */
const MISPLACED_WILDCARD = /[^/][+#]|[+#][^/]/;

/** Nobody may subscribe to the topics of the broker. */
const REFUSED_FILTER = '$SYS/refused';

/**
 * Checks and corrects packets before aedes handles them. aedes has no public hook at this point: `_parser` is private.
 *
 * - Every property but the user property may occur once (MQTT 5, 2.2.2.2), and a client sends no subscription
 *   identifier with a publish (MQTT-3.3.4-6). The parser makes a list of a repeated property, and aedes would
 *   keep a list as topic alias forever.
 * - A Maximum Packet Size of 0 is a protocol error (MQTT 5, 3.1.2.11.4). aedes checks only whether the
 *   Receive Maximum is 0, and answers with CONNACK 0x82. So a Maximum Packet Size of 0 also sets the Receive
 *   Maximum to 0.
 * - A will delay is no property of the message that other clients receive. So it is removed.
 * - aedes looks up filters as properties of objects, see `SessionlessBroker`. One filter cannot be a property
 *   of any object. It is replaced by a filter that is refused.
 *
 * @param {Client} client
 */
export function guardPackets(client) {
  const { _parser } = /** @type {{ _parser: EventEmitter }} */ (/** @type {unknown} */ (client));
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
 * Limits the QoS of subscriptions. aedes does not count the unacknowledged messages to a client. So a client
 * of MQTT 5 with a Receive Maximum is granted QoS 0, which has no such limit. The client loses nothing:
 * without sessions no message is sent twice.
 *
 * @param {Client} client
 * @param {{ cmd: string, subscriptions: Array<{ topic: string, qos: number }> }} packet
 */
function guardSubscribe(client, packet) {
  const isLimited = client.version === 5 && client.receiveMaximum < UNLIMITED;
  for (const subscription of packet.subscriptions) {
    if (subscription.topic === '__proto__') subscription.topic = REFUSED_FILTER;
    if (isLimited) subscription.qos = 0;
    // aedes accepts some misplaced wildcards (MQTT-4.7.1-2).
    if (client.version === 5 && MISPLACED_WILDCARD.test(subscription.topic))
      return reject(client, packet, REASONS.filter);
  }
}

/** @param {Client} client @param {{ cmd: string }} packet is changed to one for which aedes closes the connection */
function reject(client, packet, reasonCode = REASONS.protocolError) {
  disconnect(client, reasonCode);
  packet.cmd = 'reserved';
}

/** @param {Record<string, unknown>} properties */
function hasRepeated(properties) {
  for (const name in properties) if (Array.isArray(properties[name])) return true;
  return false;
}
