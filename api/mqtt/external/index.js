import { setTimeout as sleep } from 'node:timers/promises';
import mqttJs from 'mqtt';
import { MillraceError } from '../../../common/errors.js';
import { tlsTrouble } from '../../../common/tls-trouble.js';
import { brokerOptions } from '../../access/broker-options.js';
import { acknowledgeAfterCommit } from './acknowledging.js';
import { createPresence, watchForTakeover } from './presence.js';
import { subscribe } from './subscriptions.js';

/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { HandleMessage, Send } from '../../ingest/pipeline.js' */
/** @import { Host } from '../../ingest/sparkplug/host.js' */
/** @import { Arrange } from './subscriptions.js' */

/** Messages that the broker may have unacknowledged here; with one sample each, 256 leave a quarter of the rate unused. */
const RECEIVE_MAXIMUM = 512;

/**
 * What may be unsettled before nothing more is read. Brokers keep to the receive maximum more or less (Mosquitto 2.0.11:
 * 862 for 50), and QoS 0 knows none: what is beyond stays in the connection. More would only wait here instead of there,
 * and cost: each message weighs 12 to 22 KB until it is settled, all of it moved whenever young garbage is collected.
 */
const MOST_UNSETTLED = { messages: RECEIVE_MAXIMUM, bytes: 16 * 1024 * 1024 };

/** How long an orderly goodbye to the broker may take, in ms. */
const GOODBYE_MS = 1000;

/**
 * The subscriber at an external broker: MQTT 5, a persistent session under a fixed client id, acknowledgements after
 * the commit.
 *
 * @param {object} deps
 * @param {Config['mqtt']} deps.mqtt `url` is set
 * @param {Host | null} deps.host null: another process takes Sparkplug
 * @param {HandleMessage} deps.handleMessage
 * @param {() => number} deps.clock epoch ms
 * @param {Logger} deps.logger
 * @param {(error: Error) => void} deps.onFatal
 * @param {number} deps.keepAliveMs whole seconds
 * @param {Arrange} [deps.arrange]
 */
export function createSubscriber(deps) {
  const { mqtt, host, handleMessage, clock, logger, onFatal, keepAliveMs, arrange = subscribe } = deps;
  const client = mqttJs.connect(/** @type {string} */ (mqtt.url), {
    ...brokerOptions(mqtt, keepAliveMs),
    clientId: mqtt.clientId,
    // MQTT.js' defaults, version 4 and a clean session, lose what comes while we are away.
    clean: false,
    properties: { sessionExpiryInterval: mqtt.sessionExpirySeconds, receiveMaximum: RECEIVE_MAXIMUM },
  });
  const presence =
    host &&
    createPresence(client, host, () => {
      if (ending) return;
      client.end(true);
      onFatal(brokerForbids(mqtt.url, host.topic));
    });
  let ending = false;

  const takeover = watchForTakeover(client, () => {
    if (ending) return;
    client.end(true);
    onFatal(
      new MillraceError(
        'session_taken',
        `Another process uses the client id ${mqtt.clientId}: give each process an MQTT_CLIENT_ID of its own.`,
      ),
    );
  });

  const acknowledging = acknowledgeAfterCommit(client, {
    most: MOST_UNSETTLED,
    onPublish: (packet) => {
      const payload = Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload);
      if (host && packet.topic === host.topic) return presence?.hear(payload);
      return handleMessage({
        topic: packet.topic,
        payload,
        contentType: packet.properties?.contentType,
        retained: packet.retain,
        receivedAt: clock(),
        again: packet.dup,
      });
    },
    onGivenUp: (error) => {
      logger.error({ reason: error.message }, 'a message could not be settled; connecting anew for it');
      takeover.closing();
      client.stream.destroy();
    },
  });

  /** Subscribes anew on every connection: the broker may have lost our session. */
  async function onConnect() {
    try {
      await arrange(client, mqtt.shareGroup, host);
      presence?.announce();
      logger.info({ broker: mqtt.url }, 'connected');
    } catch (error) {
      // A connection that broke in between is made again, and then comes here again.
      if (client.connected) throw brokerAway(mqtt, error);
    }
  }

  client.on('error', (error) => logger.warn({ reason: says(error) }, 'broker'));
  return {
    /**
     * Settles when the subscriptions stand: with whether the broker had a session of ours.
     *
     * @returns {Promise<boolean>}
     * @throws {MillraceError} `broker_away`: it does not answer, or refuses us
     */
    start: () =>
      new Promise((resolve, reject) => {
        const fail = (/** @type {Error | undefined} */ error) => reject(brokerAway(mqtt, error));
        // Without an error before it: the broker closed the connection, or did not answer CONNECT in time.
        const closed = () => fail(undefined);
        client.once('error', fail);
        client.once('close', closed);
        client.once('connect', ({ sessionPresent }) => {
          client.off('error', fail);
          client.off('close', closed);
          client.on('connect', () => void onConnect().catch(onFatal));
          onConnect().then(() => resolve(sessionPresent), reject);
        });
        client.connect();
      }),

    /** Takes no more messages: the session stays at the broker, and keeps them for us. */
    quiesce() {
      ending = true;
      presence?.leave();
      acknowledging.takeNoMore();
    },

    /**
     * Says goodbye to the broker, which keeps the session.
     *
     * @param {{ endSession?: boolean }} [options] `endSession`: it keeps nothing
     */
    async stop({ endSession = false } = {}) {
      ending = true;
      // Never started, because something else could not: MQTT.js (5.16) fails at the end of what has not begun.
      if (!client.stream) return;
      // MQTT 5, section 3.14.2.2.2: the expiry of the session may be set anew by DISCONNECT.
      const goodbye = endSession ? { properties: { sessionExpiryInterval: 0 } } : {};
      // A broker that does not answer any more must not hold up our own end.
      await Promise.race([client.endAsync(false, goodbye), sleep(GOODBYE_MS, undefined, { ref: false })]);
      client.stream.destroy();
    },

    /**
     * Settles with true when the broker has answered: what it had to send before has come. False: the connection broke.
     *
     * @returns {Promise<boolean>}
     */
    async roundTrip() {
      // It would wait for the next connection, on which what the session holds may come behind the answer.
      if (!client.connected) return false;
      return arrange(client, mqtt.shareGroup, host).then(
        () => true,
        () => false,
      );
    },

    /** @type {Send} */
    send(topic, payload) {
      if (client.connected) client.publish(topic, payload, { qos: 0 });
    },

    port: 0,

    /** Who is connected is that broker's to know. */
    recheck: async () => {},

    hasFollowers: () => false,

    check: () =>
      client.connected
        ? { ok: true, says: 'connected' }
        : { ok: false, says: `not connected to ${mqtt.url}` },
  };
}

/** @param {unknown} error @returns {string} Node gives some errors, such as those of several addresses, a code alone */
function says(error) {
  if (!(error instanceof Error)) return 'it closes the connection, or does not answer';
  return error.message || String(/** @type {NodeJS.ErrnoException} */ (error).code);
}

/** @param {{ url?: string | undefined, tlsCa?: string | undefined }} mqtt @param {unknown} error */
function brokerAway({ url, tlsCa }, error) {
  const where = `The broker at ${url} (MQTT_URL)`;
  const trouble = tlsTrouble(error, 'MQTT_TLS_CA', tlsCa !== undefined);
  const message = trouble
    ? `${where} is not to be trusted: ${trouble}.`
    : `${where} does not take us: ${says(error)}. Check that it runs, and MQTT_USERNAME and MQTT_PASSWORD.`;
  return new MillraceError('broker_away', message, { cause: error });
}

/** @param {string | undefined} url @param {string} topic */
const brokerForbids = (url, topic) =>
  new MillraceError(
    'broker_away',
    `The broker at ${url} (MQTT_URL) does not let MQTT_USERNAME publish on ${topic}: give it the right, or set SPARKPLUG to false.`,
  );
