import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import mqttJs from 'mqtt';
import { brokerOptions } from '../broker-options.js';
import { createAudience } from './audience.js';
import { createBrokerDrops } from './broker-drops.js';
import { readItems } from './item.js';
import { createOutbox } from './outbox.js';
import { waitedMs } from './packet.js';
import { EVERY_PROCESS, liveDevice, liveTopic, statsProcess, statsTopic } from './topics.js';

/** How long the first connection, and an orderly goodbye, are waited for, in ms. */
const PATIENCE_MS = 1000;

/**
 * The connection of a process to the broker for live changes alone: back-pressure on ingest's own never freezes
 * readers, and what they do not read never holds up an acknowledgement. It has no session: what comes while it is away
 * is read again. Where somebody follows the whole fleet and somebody one device of it, the broker may send that
 * device's changes twice; the second time they are no news.
 *
 * @param {object} parts
 * @param {import('../../common/settings/index.js').Config['mqtt']} parts.mqtt `url` is set
 * @param {number} parts.keepAliveMs
 * @param {import('pino').Logger} parts.logger
 * @param {import('../metrics.js').Metrics} parts.metrics
 * @returns {import('./index.js').Link}
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
  /** @type {import('./index.js').StatsListener | undefined} */
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

  /** @param {string} device @param {Buffer} payload @param {import('mqtt').IPublishPacket} packet */
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

    tellStats: (process, signs) => outbox.put(statsTopic(process), signs),

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
