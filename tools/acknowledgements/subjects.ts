import type { Disk } from './disk.ts';

/** A program that is started, paused and killed many times, with the same data. */
export class Component {
  readonly #launch: () => Promise<Running>;
  #running: Running | null = null;

  constructor(launch: () => Promise<Running>) {
    this.#launch = launch;
  }

  async start() {
    this.#running ??= await this.#launch();
  }

  async stop() {
    const running = this.#running;
    this.#running = null;
    await running?.stop();
  }

  async kill() {
    // A program with a process group may be a script that waits for the broker.
    for (const sign of [-1, 1]) this.signal('SIGKILL', sign);
    await this.stop();
  }

  signal(name: NodeJS.Signals, sign: number = 1) {
    this.#running?.onSignal?.(name);
    try {
      if (this.#running?.pid) process.kill(sign * this.#running.pid, name);
    } catch {} // It has ended, or has no group.
  }
}

/** `stop` also returns when the program was killed. */
export type Running = { pid?: number; onSignal?: (name: string) => void; stop: () => Promise<void> };

/** A broker, or a pipeline from a broker to a database. */
export interface Subject {
  url: () => string;
  /** MQTT 5 has reason codes */
  version: 4 | 5;
  database?: Component;
  broker: Component;
  /** The persistent subscriber of the suite, or a program. The embedded broker of Millrace has none. */
  consumer?: Component;
  /** @returns payload of this message */
  write: (number: number) => string;
  /** @returns numbers of the messages that the subscriber has received, or that are in the database */
  received: () => Promise<Iterable<number>>;
}

export interface Setup {
  /** the programs keep their data here */
  disk: Disk;
  /** folder of their configurations and logs */
  logs: string;
  /** installed programs, kept between runs */
  tools: string;
  trace: (line: string) => void;
  onStatus: (text: string) => void;
}

/** @throws {MillraceError} a program is missing, and cannot be installed */
export type Prepare = (setup: Setup) => Promise<Subject>;

export const TOPIC = 'iot/v1/acks/measurements';

/** In epoch ms: in the past, and another time for each message. */
export const timeOf = (number: number): number => BASE + number;
const BASE = Date.now() - 3_600_000;

export const jsonOf = (value: number): string => JSON.stringify({ sensor_id: 's', ts: timeOf(value), value });
