import mqtt from 'mqtt';
import { explainTlsError } from '../../common/tls-errors.ts';

export interface Broker {
  url: string;
  username?: string;
  password?: string;
  ca?: Buffer;
  secrets?: Map<string, string>;
}

/** MQTT 3.1.1, table 3.1: version, client id, credentials, permissions. */
const PERMANENT = new Set([1, 2, 4, 5]);

/** A connection that has lasted this long resets the count of failed attempts. The pause before the next attempt grows with that count. */
const HEALTHY_AFTER_MS = 10_000;

/**
 * Reconnects whenever the connection breaks. Each attempt is a new session. The session number is the time of the attempt in epoch ms, and
 * the last will in CONNECT contains it. MQTT.js would reuse the first will on every reconnect and resend messages by itself. So every
 * attempt creates a new MQTT.js client, and only the outbox keeps pending messages.
 */
export class Connection {
  #broker;
  #will;
  #clientId;
  #onUp;
  #onDown;
  #onTrouble;
  #onRefused;
  #client: mqtt.MqttClient | null = null;
  #retry: NodeJS.Timeout | undefined;
  #session = 0;
  #failures = 0;
  #up = false;
  #everUp = false;
  #stopped = false;

  constructor({
    broker,
    will,
    clientId,
    onUp,
    onDown,
    onTrouble,
    onRefused,
  }: {
    broker: Broker;
    will: ((session: number) => { topic: string; payload: string }) | null;
    /** the same for every attempt, so that the broker replaces a dead connection */
    clientId: string;
    /** messages that `onUp` publishes arrive before all later messages */
    onUp: (session: number) => void;
    /** the missing acknowledgements will not arrive */
    onDown: () => void;
    onTrouble: (reason: string) => void;
    /** the broker refuses the client permanently; no further attempt is made */
    onRefused: (reason: string) => void;
  }) {
    this.#broker = broker;
    this.#will = will;
    this.#clientId = clientId;
    this.#onUp = onUp;
    this.#onDown = onDown;
    this.#onTrouble = onTrouble;
    this.#onRefused = onRefused;
  }

  start() {
    this.#session = Math.max(Date.now(), this.#session + 1);
    const mine = mqtt.connect(this.#broker.url, {
      protocolVersion: 4,
      clean: true,
      keepalive: 30,
      connectTimeout: 10_000,
      reconnectPeriod: 0,
      queueQoSZero: false,
      clientId: this.#clientId,
      ...(this.#broker.username === undefined
        ? {}
        : { username: this.#broker.username, password: this.#broker.password }),
      ...(this.#broker.ca ? { ca: this.#broker.ca } : {}),
      rejectUnauthorized: true,
      ...(this.#will ? { will: retained(this.#will(this.#session)) } : {}),
    });
    this.#client = mine;
    let connectedAt = 0;
    mine.on('connect', () => {
      if (mine !== this.#client || this.#stopped) return;
      connectedAt = Date.now();
      this.#up = true;
      this.#everUp = true;
      this.#onUp(this.#session);
    });
    mine.on('error', (error) => {
      if (mine !== this.#client || this.#stopped) return;
      const { code, message } = error as Error & { code?: string | number };
      if (!this.#everUp && typeof code === 'number' && PERMANENT.has(code)) {
        this.#stopped = true;
        this.#onRefused(message);
      } else {
        this.#onTrouble(
          explainTlsError(error, 'MQTT_TLS_CA', this.#broker.ca !== undefined) ?? (message || String(code)),
        );
      }
    });
    mine.on('close', () => {
      if (mine !== this.#client) return;
      this.#client = null;
      const broke = this.#up;
      this.#up = false;
      if (broke) this.#onDown();
      if (this.#stopped) return;
      if (broke) this.#onTrouble('the connection closed');
      this.#failures = broke && Date.now() - connectedAt >= HEALTHY_AFTER_MS ? 0 : this.#failures + 1;
      this.#retry = setTimeout(() => this.start(), backoffMs(this.#failures));
    });
  }

  get up() {
    return this.#up;
  }

  get everUp() {
    return this.#everUp;
  }

  /** The time of the attempt, in epoch ms. */
  get session() {
    return this.#session;
  }

  /** QoS 1. If the connection breaks before the acknowledgement, `onAcknowledged` is never called. */
  publish(
    topic: string,
    payload: string | Buffer,
    { retain = false, onAcknowledged }: { retain?: boolean; onAcknowledged?: () => void } = {},
  ) {
    const mine = this.#client;
    mine?.publish(topic, payload, { qos: 1, retain }, (error) => {
      if (!error && mine === this.#client) onAcknowledged?.();
    });
  }

  /**
   * @param how `orderly` true: the client sends DISCONNECT, and the broker discards the last will; false: the broker publishes the last
   *   will
   * @returns resolves when the socket is closed
   */
  stop({ orderly }: { orderly: boolean }): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    const mine = this.#client;
    if (!mine) return Promise.resolve();
    const closed = new Promise((resolve) => mine.once('close', () => resolve(undefined)));
    mine.end(!orderly || !this.#up);
    const impatient = setTimeout(() => mine.stream.destroy(), 1000);
    return closed.then(() => clearTimeout(impatient));
  }
}

const retained = ({ topic, payload }: { topic: string; payload: string }): mqtt.IClientOptions['will'] => ({
  topic,
  payload: Buffer.from(payload),
  qos: 1,
  retain: true,
});

const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * Doubles with each consecutive failure and has jitter, so that a thousand devices do not reconnect in the same instant.
 * @param random returns a number in [0, 1)
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 10));
  return longest * (0.5 + random() / 2);
}
