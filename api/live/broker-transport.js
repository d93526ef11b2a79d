import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import mqttJs from 'mqtt';
import { brokerOptions } from '../access/broker-options.js';
import { createHub } from './local-transport.js';
import { EVERY_PROCESS, liveDevice, liveTopic, readItems, statsProcess, statsTopic } from './messages.js';

/** @import { IPublishPacket, MqttClient } from 'mqtt' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Transport, StatsListener } from './index.js' */

/** The first connection and an orderly disconnect may each take this long, in ms. */
const CONNECT_TIMEOUT_MS = 1000;

/**
 * A connection to the broker for live changes only. Backpressure on the connection of ingest never stops readers, and a slow
 * reader never delays an acknowledgement. The connection has no session, so readers read the database after a reconnect. When
 * one reader follows the whole fleet and another follows one device, the broker may send the changes of that device twice.
 * Readers ignore the second copy, because its values are not newer.
 *
 * @param {object} deps
 * @param {Config['mqtt']} deps.mqtt `url` is set
 * @param {number} deps.keepAliveMs
 * @param {Logger} deps.logger
 * @param {Metrics} deps.metrics
 * @returns {Transport}
 */
export function createBrokerTransport({ mqtt, keepAliveMs, logger, metrics }) {
  const hub = createHub();
  /** @type {Set<() => void>} */
  const missed = new Set();
  const client = mqttJs.connect(/** @type {string} */ (mqtt.url), {
    ...brokerOptions(mqtt, keepAliveMs),
    // Processes with the ROLE `http` may share an MQTT_CLIENT_ID.
    clientId: `${mqtt.clientId}-live-${randomBytes(6).toString('hex')}`,
    clean: true,
  });
  const outbox = createOutbox(client, metrics);
  const drops = createBrokerDrops(client, metrics);
  /** @type {StatsListener | undefined} */
  let statsListener;
  let standing = Promise.resolve();
  let refused = false;

  /** @param {string[]} filters */
  async function subscribe(filters) {
    if (!client.connected || filters.length === 0) return;
    try {
      // Retain handling 2: Millrace retains no live change, so a retained one is old.
      const granted = await client.subscribeAsync(filters, { qos: 0, rh: 2 });
      refused = granted.some(({ qos }) => qos > 2);
    } catch {
      // After a broken connection the next one subscribes to everything.
      refused = client.connected;
    }
    if (refused)
      logger.warn({}, 'the broker does not let us subscribe to live changes; they are read instead');
  }

  client.on('connect', async () => {
    refused = false;
    await subscribe([...hub.devices.map(liveTopic), ...(statsListener ? [EVERY_PROCESS] : [])]);
    for (const listener of missed) listener();
    await drops.subscribe();
  });
  client.on('close', () => drops.forget());
  client.on('error', (error) => logger.debug({ reason: error.message }, 'live connection'));
  client.on('message', (topic, payload, packet) => {
    if (drops.receive(topic, payload)) return;
    const process = statsProcess(topic);
    const isOurs =
      process === null
        ? receive(liveDevice(topic), payload, packet)
        : process !== '' && statsListener?.(process, payload);
    if (!isOurs) metrics.live.inc({ result: 'ignored' });
  });

  /** @param {string} device @param {Buffer} payload @param {IPublishPacket} packet */
  function receive(device, payload, packet) {
    const items = readItems(device, payload);
    if (!items) return false;
    hub.publish(device, items, performance.now() - waitedMs(packet));
    return true;
  }

  return {
    isWanted: () => true,

    publish: (device, items, committedAt) =>
      outbox.put(liveTopic(device), JSON.stringify(items), performance.now() - committedAt),

    async listen(devices, listener) {
      const opened = hub.add(devices, listener);
      // Another call may have subscribed to the same device a moment ago.
      standing = standing.then(() => subscribe(opened.map(liveTopic)));
      await standing;
      return () => {
        const closed = hub.remove(devices, listener);
        if (client.connected && closed.length > 0) client.unsubscribe(closed.map(liveTopic));
      };
    },

    publishStats: (process, snapshot) => outbox.put(statsTopic(process), snapshot),

    onStats(listener) {
      statsListener = listener;
      standing = standing.then(() => subscribe([EVERY_PROCESS]));
    },

    onMissed(listener) {
      missed.add(listener);
      return () => void missed.delete(listener);
    },

    checks: {
      live: () =>
        client.connected && !refused
          ? { ok: true, message: 'connected' }
          : {
              ok: false,
              message: `${refused ? 'subscription refused' : 'not connected'}; readers receive changes within 30 s`,
            },
    },

    /** Waits for the connection, but does not need it. Without it readers get changes later. */
    async start() {
      const answered = new Promise((resolve) => {
        client.once('connect', () => resolve(undefined));
        client.once('close', () => resolve(undefined));
      });
      client.connect();
      await Promise.race([answered, sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
    },

    async stop() {
      // Another part failed to start, so this client never connected. MQTT.js (5.16) cannot end such a client.
      if (!client.stream) return;
      outbox.flush();
      await Promise.race([client.endAsync(), sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
      client.stream.destroy();
    },

    get listening() {
      return hub.devices.length > 0;
    },
  };
}

/** On this topic Mosquitto reports how many messages it dropped since its start because the queue of a client was full. */
const DROPPED = '$SYS/broker/publish/messages/dropped';

/**
 * Counts the messages that an external broker dropped after it acknowledged them to their device. Only Mosquitto reports this by
 * MQTT. The count is unknown behind another broker, and when the broker does not let Millrace read the topic.
 *
 * @param {MqttClient} client
 * @param {Pick<Metrics, 'gauge'>} metrics
 */
function createBrokerDrops(client, metrics) {
  let dropped = Number.NaN;
  metrics.gauge(
    'iot_broker_dropped_messages',
    'Messages that the external broker dropped since its start, as Mosquitto publishes them on $SYS; missing for other brokers',
    () => dropped,
  );

  return {
    async subscribe() {
      try {
        await client.subscribeAsync(DROPPED, { qos: 0 });
      } catch {
        // The broker may forbid this topic. Live changes work without it.
      }
    },

    /** @param {string} topic @param {Buffer} payload @returns {boolean} whether the message was on this topic */
    receive(topic, payload) {
      if (topic !== DROPPED) return false;
      dropped = Number(payload.toString('latin1'));
      return true;
    },

    /** The connection closed. The broker may have restarted since, and then its count starts at 0. */
    forget() {
      dropped = Number.NaN;
    },
  };
}

/** Bytes that may wait for a slow broker. Above this limit changes are dropped, and readers read the database. */
const MOST_WAITING = 1024 * 1024;

/**
 * Collects what is published in one turn of the event loop. Writes it at once, directly to the stream of the connection.
 *
 * @param {MqttClient} client
 * @param {Pick<Metrics, 'live'>} metrics
 */
export function createOutbox(client, { live }) {
  /** @type {Buffer[]} */
  let packets = [];
  let bytes = 0;

  function flush() {
    if (client.connected && packets.length > 0) client.stream.write(Buffer.concat(packets, bytes));
    packets = [];
    bytes = 0;
  }

  return {
    flush,

    /** @param {string} topic of ASCII @param {string} payload @param {number} [waited] ms since the oldest commit in it */
    put(topic, payload, waited) {
      if (!client.connected || client.stream.writableLength + bytes > MOST_WAITING) {
        live.inc({ result: 'dropped' });
        return;
      }
      const packet = publishPacket(topic, payload, waited);
      live.inc({ result: 'published' });
      bytes += packet.length;
      if (packets.push(packet) === 1) setImmediate(flush);
    },
  };
}

/** PUBLISH with QoS 0, without the flags DUP and RETAIN (MQTT 5, section 3.3.1). */
const PUBLISH = 0x30;

/** User property: a name and a text (3.3.2.3.7). Brokers forward it unaltered. */
const USER_PROPERTY = 0x26;

/**
 * The user property with the age of the oldest commit of a message when it was sent, in whole ms. It uses only the clock of the
 * sender, because the clocks of two machines differ.
 */
export const WAITED = 'waited_ms';

/** A longer wait is not plausible, in ms. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Encodes a PUBLISH of MQTT 5. Through MQTT.js each costs the ingest process 11 µs or more. This takes 3 µs, 2 of them for the
 * JSON.
 *
 * @param {string} topic of ASCII
 * @param {string} payload
 * @param {number} [waited] see `WAITED`; undefined: the message contains no commit
 */
export function publishPacket(topic, payload, waited) {
  const bytes = Buffer.byteLength(payload);
  const text = waited === undefined ? '' : String(Math.round(waited));
  // The properties are far below 128 bytes, so their length takes one byte.
  const properties = text === '' ? 0 : 1 + 2 + WAITED.length + 2 + text.length;
  const rest = 2 + topic.length + 1 + properties + bytes;
  const packet = Buffer.allocUnsafe(1 + lengthOfLength(rest) + rest);
  packet[0] = PUBLISH;
  let at = writeText(packet, writeLength(packet, 1, rest), topic);
  packet[at++] = properties;
  if (properties > 0) {
    packet[at++] = USER_PROPERTY;
    at = writeText(packet, writeText(packet, at, WAITED), text);
  }
  packet.write(payload, at);
  return packet;
}

/**
 * @param {IPublishPacket} packet
 * @returns {number} ms; 0 when the property is missing or not plausible
 */
export function waitedMs({ properties }) {
  const waited = Number(properties?.userProperties?.[WAITED]);
  return waited >= 0 && waited <= LONGEST_WAIT_MS ? waited : 0;
}

/** Variable byte integers (1.5.5): seven bits per byte. @param {number} value */
function lengthOfLength(value) {
  let bytes = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++;
  return bytes;
}

/** @param {Buffer} packet @param {number} from @param {number} value @returns {number} where it ends */
function writeLength(packet, from, value) {
  let at = from;
  let rest = value;
  for (; rest > 127; rest >>>= 7) packet[at++] = (rest & 127) | 128;
  packet[at++] = rest;
  return at;
}

/** @param {Buffer} packet @param {number} from @param {string} text of ASCII @returns {number} where it ends */
function writeText(packet, from, text) {
  const at = packet.writeUInt16BE(text.length, from);
  return at + packet.write(text, at, 'latin1');
}
