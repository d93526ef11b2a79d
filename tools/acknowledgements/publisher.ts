import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { MillraceError } from '../../common/errors.ts';
import { type Subject, TOPIC } from './subjects.ts';

/** Numbered messages, padded to `bytes`. Without a `rate` in messages/s, the broker sets the pace. */
export type Load = { count: number; bytes: number; rate?: number };

/** Unacknowledged messages. HiveMQ allows 10. */
const WINDOW = 10;
/** After this time without a PUBACK the publisher is held back. */
const STALL_MS = 5000;
const POLL_MS = 10;
/** Higher reason codes are refusals: MQTT 5, section 3.4.2.1. */
const REFUSED = 0x80;

export class Publisher {
  readonly acknowledged: Set<number> = new Set();
  refused = 0;
  /** the broker stopped acknowledging before the end of the load */
  heldBack = false;
  readonly #subject: Subject;
  readonly #trace: (line: string) => void;
  readonly #signal: AbortSignal;
  /** message numbers by packet id */
  readonly #open: Map<number, number> = new Map();
  #client: MqttClient | null = null;
  #next = 0;
  #lastAt = 0;

  constructor(subject: Subject, { trace, signal }: { trace: (line: string) => void; signal: AbortSignal }) {
    this.#subject = subject;
    this.#trace = trace;
    this.#signal = signal;
  }

  /** Publishes the rest of the load. @returns after the last PUBACK, or when it is held back, or disconnected */
  async publish({ count, bytes, rate = Infinity }: Load) {
    if (!this.#client?.connected) await this.#connect(bytes);
    const [began, first] = [performance.now(), this.#next];
    this.#lastAt = began;
    while (this.#next < count || this.#open.size > 0) {
      const now = performance.now();
      const due = Math.min(count, first + ((now - began) / 1000) * rate);
      while (this.#next < due && this.#open.size < WINDOW) this.#send(this.#next++, bytes);
      if (this.#open.size === 0) this.#lastAt = now;
      if (!this.#client?.connected) return this.#trace('the broker has closed the connection');
      if (now - this.#lastAt > STALL_MS) {
        this.heldBack = true;
        return this.#trace(`the publisher is held back: ${this.#open.size} messages without PUBACK`);
      }
      await sleep(POLL_MS, null, { signal: this.#signal });
    }
  }

  close() {
    return this.#client?.endAsync(true);
  }

  async #connect(bytes: number) {
    const { url, version } = this.#subject;
    const client = mqtt.connect(url(), { protocolVersion: version, keepalive: 0, reconnectPeriod: 0 });
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'puback') this.#acknowledge(Number(packet.messageId), packet.reasonCode);
    });
    await new Promise((resolve, reject) => {
      client.once('connect', resolve).on('error', reject);
      client.once('close', () => reject(new MillraceError('failed', 'the broker refuses the publisher')));
    });
    this.#client = client;
    const again = [...this.#open.values()];
    this.#open.clear();
    for (const number of again) this.#send(number, bytes);
  }

  #send(number: number, bytes: number) {
    this.#client?.publish(TOPIC, this.#subject.write(number).padEnd(bytes), { qos: 1 }, () => {});
    const id = Number(this.#client?.getLastMessageId());
    this.#open.set(id, number);
    this.#trace(`publisher > PUBLISH id ${id}: message ${number}`);
  }

  /** @param code MQTT 3.1.1 has none */
  #acknowledge(id: number, code?: number) {
    const number = this.#open.get(id) ?? Number.NaN;
    const reason = code === undefined ? '' : ` reason 0x${code.toString(16).padStart(2, '0')}`;
    this.#trace(`publisher < PUBACK id ${id}${reason}: message ${number}`);
    this.#open.delete(id);
    this.#lastAt = performance.now();
    if (code === undefined || code < REFUSED) this.acknowledged.add(number);
    else this.refused++;
  }
}
