import { readFileSync } from 'node:fs';
import mqttJs from 'mqtt';
import { MillraceError } from '../../../common/errors.js';
import { acknowledgeAfterCommit } from './acknowledging.js';

/** Messages that may be unsettled; about 256 keep the database busy at any size of message. */
const MOST_UNSETTLED = 512;

/** Nothing settled for this long while messages wait: something is stuck, in ms. */
const STUCK_AFTER_MS = 30_000;

const RECONNECT_MS = 1000;

/** MQTT 5, section 3.14.2.1: another connection took this session over. */
const SESSION_TAKEN_OVER = 0x8e;

/**
 * The subscriber at an external broker: MQTT 5, a persistent session under a fixed client id, acknowledgements after
 * the commit. Measurements are shared among all processes of the group; births and status come to every process,
 * since shared subscriptions get no retained messages, and so that a birth comes before its measurements in each queue.
 *
 * @param {object} parts
 * @param {import('../../../common/settings.js').Config['mqtt']} parts.mqtt `url` is set
 * @param {(message: import('../accept.js').Message) => Promise<void>} parts.accept
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 * @param {(error: Error) => void} parts.onFatal
 */
export function createSubscriber({ mqtt, accept, clock, logger, onFatal }) {
  const client = mqttJs.connect(/** @type {string} */ (mqtt.url), {
    manualConnect: true,
    protocolVersion: 5,
    clientId: mqtt.clientId,
    // MQTT.js' defaults, version 4 and a clean session, lose what comes while we are away.
    clean: false,
    properties: { sessionExpiryInterval: mqtt.sessionExpirySeconds, receiveMaximum: MOST_UNSETTLED },
    username: mqtt.username,
    password: mqtt.password,
    ca: mqtt.tlsCa ? [readFileSync(mqtt.tlsCa)] : undefined,
    rejectUnauthorized: true,
    reconnectPeriod: RECONNECT_MS,
    resubscribe: false,
  });
  let ending = false;

  const acknowledging = acknowledgeAfterCommit(client, {
    mostUnsettled: MOST_UNSETTLED,
    onPublish: (packet) =>
      accept({
        topic: packet.topic,
        payload: Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload),
        contentType: packet.properties?.contentType,
        retained: packet.retain,
        receivedAt: clock(),
      }),
  });

  client.on('connect', () => {
    subscribe(client, mqtt.shareGroup).then(
      () => logger.info({ broker: mqtt.url }, 'subscribed'),
      (error) => onFatal(brokerAway(mqtt.url, error)),
    );
  });
  client.on('error', (error) => logger.warn({ reason: error.message }, 'broker'));
  client.on('disconnect', (packet) => {
    if (packet.reasonCode !== SESSION_TAKEN_OVER || ending) return;
    client.end(true);
    onFatal(
      new MillraceError(
        'session_taken',
        `Another process uses the client id ${mqtt.clientId}: give each process an MQTT_CLIENT_ID of its own.`,
      ),
    );
  });

  return {
    /** @throws {MillraceError} `broker_away`: it does not answer, or refuses us */
    start: () =>
      /** @type {Promise<void>} */ (
        new Promise((resolve, reject) => {
          const first = (/** @type {Error} */ error) => reject(brokerAway(mqtt.url, error));
          client.once('connect', () => {
            client.off('error', first);
            resolve(undefined);
          });
          client.once('error', first);
          client.connect();
        })
      ),

    /** Takes no more messages: the session stays at the broker, and keeps them for us. */
    quiesce() {
      ending = true;
    },

    stop: () =>
      /** @type {Promise<void>} */ (
        new Promise((resolve) => {
          client.end(false, {}, () => resolve(undefined));
        })
      ),

    port: 0,

    check() {
      if (!client.connected) return { ok: false, says: `not connected to ${mqtt.url}` };
      const stuck = acknowledging.stuckForMs;
      if (stuck < STUCK_AFTER_MS) return { ok: true, says: 'connected' };
      return { ok: false, says: `nothing settled for ${Math.round(stuck / 1000)} s while messages wait` };
    },
  };
}

/** @param {import('mqtt').MqttClient} client @param {string} group */
async function subscribe(client, group) {
  // Retain handling 1: retained messages come with a new subscription only, not after every reconnect.
  const granted = await client.subscribeAsync({
    [`$share/${group}/iot/v1/+/measurements`]: { qos: 1 },
    'iot/v1/+/birth': { qos: 1, rh: 1 },
    'iot/v1/+/status': { qos: 1, rh: 1 },
  });
  const refused = granted.find(({ qos }) => qos > 2);
  if (refused) throw new Error(`the subscription to ${refused.topic} is refused`);
}

/** @param {string | undefined} url @param {Error} error */
const brokerAway = (url, error) =>
  new MillraceError(
    'broker_away',
    `The broker at ${url} (MQTT_URL) does not take us: ${error.message}. Check that it runs, and MQTT_USERNAME and MQTT_PASSWORD.`,
    { cause: error },
  );
