import { setTimeout as sleep } from 'node:timers/promises';
import type { MqttClient } from 'mqtt';
import { connect } from './publisher.ts';
import type { Subject } from './subjects.ts';

/** After this time without another message no more is expected. Another process of Millrace writes a journal within 30 s. */
const QUIET_MS = { subscriber: 10_000, database: 40_000 };
const LOOK_MS = 200;

/** Receives all messages: a persistent subscriber at QoS 1, or the rest of a pipeline. */
export class Sink {
  readonly #subject: Subject;
  readonly #trace: (line: string) => void;
  readonly #received: Set<number> = new Set();
  #client: MqttClient | null = null;
  #isStalled = false;
  #acknowledge = () => {};

  constructor(subject: Subject, trace: (line: string) => void) {
    this.#subject = subject;
    this.#trace = trace;
  }

  /** A program of the pipeline, unless the subscriber of the suite receives the messages. */
  get #program() {
    return this.#subject.parts.consumer ?? this.#subject.parts.database;
  }

  get isQueued() {
    return !this.#program || this.#subject.parts.consumer !== undefined;
  }

  /** The broker keeps its session. */
  async away() {
    await (this.#program?.stop() ?? this.close());
    this.#trace('the subscriber is away');
  }

  async back() {
    if (!this.#client?.connected) await (this.#program?.start() ?? this.#connect());
  }

  /** It stays connected and acknowledges nothing, or the database does not answer. */
  stall() {
    this.#isStalled = true;
    this.#subject.parts.database?.signal('SIGSTOP');
    this.#trace('the subscriber stalls');
  }

  resume() {
    this.#isStalled = false;
    this.#acknowledge();
    this.#subject.parts.database?.signal('SIGCONT');
    this.#trace('the subscriber resumes');
  }

  /** @returns all that have arrived when all of `expected` are there, or when no more comes */
  async collect(expected: Set<number>): Promise<Set<number>> {
    const { stored } = this.#subject;
    const quietMs = stored ? QUIET_MS.database : QUIET_MS.subscriber;
    let received: Set<number> = new Set();
    for (let since = Date.now(); Date.now() - since < quietMs; await sleep(LOOK_MS)) {
      const now = new Set(stored ? await stored().catch(() => []) : this.#received);
      if (now.size !== received.size) since = Date.now();
      await this.back(); // NATS closes the connection of a slow subscriber, and keeps its messages.
      received = now;
      if ([...expected].every((number) => now.has(number))) break;
    }
    return received;
  }

  async close() {
    await this.#client?.endAsync();
  }

  async #connect() {
    const properties = this.#subject.version === 5 ? { sessionExpiryInterval: 86_400 } : {};
    const session = { clientId: `acks-subscriber-${process.pid}`, clean: false, properties };
    this.#client = await connect(this.#subject, session, (client) => {
      client.on('connect', ({ sessionPresent }) =>
        this.#trace(`the subscriber is connected, session present: ${sessionPresent}`),
      );
      client.handleMessage = ({ payload, dup }, acknowledge) => {
        const { value } = JSON.parse(payload.toString());
        this.#trace(`subscriber < PUBLISH ${value}${dup ? ' DUP' : ''}`);
        this.#received.add(value);
        if (this.#isStalled) this.#acknowledge = acknowledge;
        else acknowledge();
      };
    });
    await this.#client.subscribeAsync(this.#subject.topic, { qos: 1 });
  }
}
