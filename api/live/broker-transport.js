import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import mqttJs from 'mqtt';
import { brokerOptions } from '../access/broker-options.js';
import { createAudience } from './local-transport.js';
import { EVERY_PROCESS, liveDevice, liveTopic, readItems, statsProcess, statsTopic } from './messages.js';

/** @import { IPublishPacket, MqttClient } from 'mqtt' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { Metrics } from '../observability/metrics.js' */
/** @import { Link, StatsListener } from './index.js' */

/** How long the first connection, and an orderly goodbye, are waited for, in ms. */
const PATIENCE_MS = 1000;

/**
 * The connection of a process to the broker for live changes alone: back-pressure on ingest's own never freezes
 * readers, and what they do not read never holds up an acknowledgement. It has no session: what comes while it is away
 * is read again. Where somebody follows the whole fleet and somebody one device of it, the broker may send that
 * device's changes twice; the second time they are no news.
 *
 * @param {object} deps
 * @param {Config['mqtt']} deps.mqtt `url` is set
 * @param {number} deps.keepAliveMs
 * @param {Logger} deps.logger
 * @param {Metrics} deps.metrics
 * @returns {Link}
 */
export function createBrokerLink({ mqtt, keepAliveMs, logger, metrics }) {
  const audience = createAudience();
  /** @type {Set<() => void>} */
  const missed = new Set();
  const client = mqttJs.connect(/** @type {string} */ (mqtt.url), {
    ...brokerOptions(mqtt, keepAliveMs),
    // Processes that only serve may share an MQTT_CLIENT_ID.
    clientId: `${mqtt.clientId}-live-${randomBytes(6).toString('hex')}`,
    clean: true,
  });
  const outbox = createOutbox(client, metrics);
  const drops = createBrokerDrops(client, metrics);
  /** @type {StatsListener | undefined} */
  let hearStats;
  let standing = Promise.resolve();
  let refused = false;

  /** @param {string[]} filters */
  async function subscribe(filters) {
    if (!client.connected || filters.length === 0) return;
    try {
      // Retain handling 2: nothing of ours is retained, and what is all the same is old.
      const granted = await client.subscribeAsync(filters, { qos: 0, rh: 2 });
      refused = granted.some(({ qos }) => qos > 2);
    } catch {
      // A connection that broke is made again, and all is subscribed on it.
      refused = client.connected;
    }
    if (refused)
      logger.warn({}, 'the broker does not let us subscribe to live changes; they are read instead');
  }

  client.on('connect', async () => {
    refused = false;
    await subscribe([...audience.devices.map(liveTopic), ...(hearStats ? [EVERY_PROCESS] : [])]);
    for (const listener of missed) listener();
    await drops.subscribe();
  });
  client.on('close', () => drops.forget());
  client.on('error', (error) => logger.debug({ reason: error.message }, 'live connection'));
  client.on('message', (topic, payload, packet) => {
    if (drops.hear(topic, payload)) return;
    const process = statsProcess(topic);
    const isOurs =
      process === null
        ? hear(liveDevice(topic), payload, packet)
        : process !== '' && hearStats?.(process, payload);
    if (!isOurs) metrics.live.inc({ result: 'ignored' });
  });

  /** @param {string} device @param {Buffer} payload @param {IPublishPacket} packet */
  function hear(device, payload, packet) {
    const items = readItems(device, payload);
    if (items) audience.tell(device, items, performance.now() - waitedMs(packet));
    return items !== null;
  }

  return {
    isWanted: () => true,

    publish: (device, items, committedAt) =>
      outbox.put(liveTopic(device), JSON.stringify(items), performance.now() - committedAt),

    async listen(devices, listener) {
      const opened = audience.add(devices, listener);
      // Also for what others subscribed a moment ago.
      standing = standing.then(() => subscribe(opened.map(liveTopic)));
      await standing;
      return () => {
        const closed = audience.remove(devices, listener);
        if (client.connected && closed.length > 0) client.unsubscribe(closed.map(liveTopic));
      };
    },

    tellStats: (process, snapshot) => outbox.put(statsTopic(process), snapshot),

    listenStats(listener) {
      hearStats = listener;
      standing = standing.then(() => subscribe([EVERY_PROCESS]));
    },

    onMissed(listener) {
      missed.add(listener);
      return () => void missed.delete(listener);
    },

    checks: {
      live: () =>
        client.connected && !refused
          ? { ok: true, says: 'connected' }
          : {
              ok: false,
              says: `${refused ? 'subscription refused' : 'not connected'}; readers hear of changes within 30 s`,
            },
    },

    /** Waits for the connection, but needs none: without it readers are slower, and all else goes on. */
    async start() {
      const answered = new Promise((resolve) => {
        client.once('connect', () => resolve(undefined));
        client.once('close', () => resolve(undefined));
      });
      client.connect();
      await Promise.race([answered, sleep(PATIENCE_MS, undefined, { ref: false })]);
    },

    async stop() {
      // Never started, because something else could not: MQTT.js (5.16) fails at the end of what has not begun.
      if (!client.stream) return;
      outbox.flush();
      await Promise.race([client.endAsync(), sleep(PATIENCE_MS, undefined, { ref: false })]);
      client.stream.destroy();
    },

    get listening() {
      return audience.devices.length > 0;
    },
  };
}

/** Mosquitto says here how many messages it dropped since it started, because a client's queue was full. */
const DROPPED = '$SYS/broker/publish/messages/dropped';

/**
 * What an external broker says that it dropped: messages that were acknowledged to their device, and never came here. Mosquitto
 * alone tells it by MQTT; of other brokers nothing is heard, nor of one that does not let us read it.
 *
 * @param {MqttClient} client
 * @param {Pick<Metrics, 'gauge'>} metrics
 */
function createBrokerDrops(client, metrics) {
  let dropped = Number.NaN;
  metrics.gauge(
    'iot_broker_dropped_messages',
    'Messages that the external broker dropped since it started, as Mosquitto says on $SYS; left out where it says nothing',
    () => dropped,
  );

  return {
    async subscribe() {
      try {
        await client.subscribeAsync(DROPPED, { qos: 0 });
      } catch {
        // It may not be ours to read; that is no trouble of live changes.
      }
    },

    /** @param {string} topic @param {Buffer} payload @returns {boolean} whether this was for us */
    hear(topic, payload) {
      if (topic !== DROPPED) return false;
      dropped = Number(payload.toString('latin1'));
      return true;
    },

    /** The connection is gone: what was heard may be of a broker that has started anew since. */
    forget() {
      dropped = Number.NaN;
    },
  };
}

/** What may wait for a slow broker, in bytes; beyond it changes are dropped, and read again by those who follow them. */
const MOST_WAITING = 1024 * 1024;

/**
 * What is published in one turn of the event loop, written at once, straight to the connection's stream.
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

    /** @param {string} topic of ASCII @param {string} payload @param {number} [waited] since the oldest commit that it tells of, in ms */
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

/** PUBLISH with QoS 0, neither repeated nor retained (MQTT 5, section 3.3.1). */
const PUBLISH = 0x30;

/** A property that two parties agree on, a name and a text (3.3.2.3.7); brokers pass it on unaltered. */
const USER_PROPERTY = 0x26;

/**
 * The user property that says how long the oldest change of a message was committed when it was sent, in whole ms: by
 * the sender's clock alone, since those of two machines differ.
 */
export const WAITED = 'waited_ms';

/** Longest wait that is believed, in ms. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * A PUBLISH of MQTT 5. Through MQTT.js each costs 11 µs or more, of the process that ingests; so it is 3, two of them for
 * the JSON.
 *
 * @param {string} topic of ASCII
 * @param {string} payload
 * @param {number} [waited] see `WAITED`; undefined: it tells of no commit
 */
export function publishPacket(topic, payload, waited) {
  const bytes = Buffer.byteLength(payload);
  const text = waited === undefined ? '' : String(Math.round(waited));
  // Far below 128 bytes, so that their length takes one.
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
 * @param {IPublishPacket} packet that somebody sent
 * @returns {number} ms; 0 where it does not say, or nothing that could be so
 */
export function waitedMs({ properties }) {
  const waited = Number(properties?.userProperties?.[WAITED]);
  return waited >= 0 && waited <= LONGEST_WAIT_MS ? waited : 0;
}

/** Variable byte integers (1.5.5): seven bits a byte. @param {number} value */
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
