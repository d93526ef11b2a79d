import { setTimeout as sleep } from 'node:timers/promises';
import mqttJs, { type MqttClient } from 'mqtt';
import type { Logger } from 'pino';
import { codeOf, MillraceError } from '../../../../common/errors.ts';
import type { Config } from '../../../../common/settings/config.ts';
import { explainTlsError } from '../../../../common/tls-errors.ts';
import type { Topic } from '../../../../schema/topics.ts';
import type { HandleMessage } from '../../../ingest/pipeline.ts';
import type { PresenceMessages, Subscriptions } from '../../../ingest/topics.ts';
import { brokerOptions } from '../options.ts';
import { acknowledgeAfterCommit, type OnPublish } from './acknowledging.ts';
import { Presence, watchForTakeover } from './presence.ts';
import { type Arrange, subscribe } from './subscriptions.ts';

export { unsubscribe } from './subscriptions.ts';

/** With one sample per message, a limit of 256 would reduce the message rate by a quarter. */
const RECEIVE_MAXIMUM = 512;

/**
 * The client reads no further at these limits. Brokers respect the Receive Maximum only roughly (Mosquitto 2.0.11 sends
 * 862 messages instead of 50), and QoS 0 has no maximum. A higher limit would only move the queue from the connection
 * to this process, where each message costs 12 to 22 KB until it is settled. The bytes count until the PUBACK.
 */
const MAX_UNSETTLED = { messages: RECEIVE_MAXIMUM, bytes: 16 * 1024 * 1024 };

const DISCONNECT_MS = 1000;

/** Uses MQTT 5 and a persistent session with a fixed client id, and acknowledges after the commit. */
export function createSubscriber(deps: {
  mqtt: Config['mqtt'];
  parseTopic: (topic: string) => Topic | null;
  /** null: this process does not publish its state */
  presence: PresenceMessages | null;
  /** of features */
  subscriptions: Subscriptions[];
  handleMessage: HandleMessage;
  /** Messages may have been missed: the connection broke, or was opened again. */
  onInterrupted?: () => void;
  /** epoch ms */
  clock: () => number;
  logger: Logger;
  onFatal: (error: Error) => void;
  keepAliveMs: number;
  arrange?: Arrange;
}) {
  const {
    mqtt,
    parseTopic,
    presence: messages,
    subscriptions,
    handleMessage,
    onInterrupted = () => {},
    clock,
    logger,
    onFatal,
    keepAliveMs,
    arrange = subscribe,
  } = deps;
  const client = mqttJs.connect(mqtt.url as string, {
    ...brokerOptions(mqtt, keepAliveMs),
    clientId: mqtt.clientId,
    // MQTT.js by default uses MQTT 3.1.1 and a clean session, with which messages are lost while this process is stopped.
    clean: false,
    properties: { sessionExpiryInterval: mqtt.sessionExpirySeconds, receiveMaximum: RECEIVE_MAXIMUM },
  });
  const presence =
    messages &&
    new Presence(client, messages, () => {
      if (subscriber.isEnding) return;
      client.end(true);
      onFatal(brokerForbids(mqtt.url, messages));
    });

  const takeover = watchForTakeover(client, () => {
    if (subscriber.isEnding) return;
    client.end(true);
    onFatal(
      new MillraceError(
        'session_taken',
        `Another process uses the client id ${mqtt.clientId}: give each process an MQTT_CLIENT_ID of its own.`,
      ),
    );
  });

  const handlePublish: OnPublish = ({ topic, payload, contentType, retain, dup, replaces }, receipt) =>
    handleMessage({
      topic,
      route: parseTopic(topic),
      payload,
      contentType,
      retained: retain,
      receivedAt: clock(),
      dup,
      replaces,
      receipt,
    });
  const acknowledging = acknowledgeAfterCommit(client, {
    maxUnsettled: MAX_UNSETTLED,
    onPublish: presence
      ? (publish, receipt) =>
          publish.topic === messages.topic
            ? presence.receive(publish.payload)
            : handlePublish(publish, receipt)
      : handlePublish,
    onFailed: (error) => {
      logger.error(
        { reason: error.message },
        'a message could not be settled; reconnecting to receive it again',
      );
      takeover.closing();
      client.stream.destroy();
    },
  });

  const subscriber = new Subscriber({
    mqtt,
    client,
    presence,
    acknowledging,
    arrange: () => arrange(client, { group: mqtt.shareGroup, subscriptions }),
    logger,
    onFatal,
  });

  // A broker keeps no message with QoS 0 for a disconnected client.
  client.on('close', onInterrupted);
  client.on('connect', onInterrupted);
  client.on('error', (error) => logger.warn({ reason: reasonOf(error) }, 'broker'));
  return subscriber;
}

class Subscriber {
  #mqtt;
  #client;
  #presence;
  #acknowledging;
  #arrange;
  #logger;
  #onFatal;
  #isEnding = false;
  port = 0;
  followers = null;

  constructor(parts: {
    mqtt: Config['mqtt'];
    client: MqttClient;
    presence: Presence | null;
    acknowledging: { quiesce: () => void };
    arrange: () => Promise<void>;
    logger: Logger;
    onFatal: (error: Error) => void;
  }) {
    this.#mqtt = parts.mqtt;
    this.#client = parts.client;
    this.#presence = parts.presence;
    this.#acknowledging = parts.acknowledging;
    this.#arrange = parts.arrange;
    this.#logger = parts.logger;
    this.#onFatal = parts.onFatal;
  }

  get isEnding() {
    return this.#isEnding;
  }

  /** Returns whether the broker had a session of this client. @throws `broker_away`: no answer, or refused */
  start(): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error | undefined) => reject(brokerAway(this.#mqtt, error));
      // A close without an error means that the broker closed the connection, or did not answer CONNECT in time.
      const closed = () => fail(undefined);
      this.#client.once('error', fail);
      this.#client.once('close', closed);
      this.#client.once('connect', ({ sessionPresent }) => {
        this.#client.off('error', fail);
        this.#client.off('close', closed);
        this.#client.on('connect', () => void this.#onConnect().catch(this.#onFatal));
        this.#onConnect().then(() => resolve(sessionPresent), reject);
      });
      this.#client.connect();
    });
  }

  /** The broker keeps later messages in the session. */
  quiesce() {
    this.#isEnding = true;
    this.#presence?.leave();
    this.#acknowledging.quiesce();
  }

  /** `endSession`: the broker discards the session */
  async stop({ endSession = false }: { endSession?: boolean } = {}) {
    this.#isEnding = true;
    // If another component failed to start, this client never connected. MQTT.js (5.16) cannot end such a client.
    if (!this.#client.stream) return;
    // MQTT 5, section 3.14.2.2.2: DISCONNECT may change the expiry of the session.
    const packet = endSession ? { properties: { sessionExpiryInterval: 0 } } : {};
    // A broker that does not answer must not delay the stop.
    await Promise.race([
      this.#client.endAsync(false, packet),
      sleep(DISCONNECT_MS, undefined, { ref: false }),
    ]);
    this.#client.stream.destroy();
  }

  /** When the answer arrives, all messages that the broker sent earlier have arrived too. Returns false if the connection broke. */
  async roundTrip(): Promise<boolean> {
    // A disconnected client would wait for the next connection. On that connection, messages of the session may arrive after the answer.
    if (!this.#client.connected) return false;
    return this.#arrange().then(
      () => true,
      () => false,
    );
  }

  send(topic: string, payload: Buffer): void {
    if (this.#client.connected) this.#client.publish(topic, payload, { qos: 0 });
  }

  check() {
    return this.#client.connected
      ? { ok: true, message: 'connected' }
      : { ok: false, message: `not connected to ${this.#mqtt.url}` };
  }

  /** On every connection, because the broker may have lost the session. */
  async #onConnect() {
    try {
      await this.#arrange();
      this.#presence?.announce();
      this.#logger.info({ broker: this.#mqtt.url }, 'connected');
    } catch (error) {
      // MQTT.js connects again after a broken connection, and then calls this function again.
      if (this.#client.connected) throw brokerAway(this.#mqtt, error);
    }
  }
}

/** An error of Node.js may have only a code, for example if a host has several addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it closes the connection, or does not answer';
  return error.message || String(codeOf(error));
}

function brokerAway(
  { url, tlsCa }: { url?: string | undefined; tlsCa?: string | undefined },
  error: unknown,
) {
  const where = `The broker at ${url} (MQTT_URL)`;
  const trouble = explainTlsError(error, 'MQTT_TLS_CA', tlsCa !== undefined);
  const message = trouble
    ? `${where} is not to be trusted: ${trouble}.`
    : `${where} does not accept the connection: ${reasonOf(error)}. Check that it runs, and MQTT_USERNAME and MQTT_PASSWORD.`;
  return new MillraceError('broker_away', message, { cause: error });
}

const brokerForbids = (url: string | undefined, { topic, hint }: PresenceMessages) =>
  new MillraceError(
    'broker_away',
    `The broker at ${url} (MQTT_URL) does not let MQTT_USERNAME publish on ${topic}: grant this permission, or ${hint}.`,
  );
