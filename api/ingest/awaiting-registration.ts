import type { Metrics } from '../observability/metrics.ts';
import type { Message } from './pipeline.ts';

/** At the limit of messages or time, the oldest messages are dropped. A larger message than `MAX_BYTES` is not queued. */
const MAX_MESSAGES = 1000;
const KEPT_MS = 60_000;
const MAX_BYTES = 16_384;

/**
 * Messages that arrived before the birth of their device: when AUTO_REGISTER is off, or if only the birth explains them. Each
 * also becomes a dead letter. If the birth arrives within a minute, ingest stores the messages.
 */
export class AwaitingRegistration<M extends Message = Message> {
  #clock;
  /** oldest first */
  #waiting: Array<{ device: string; arrivedAt: number; message: M }> = [];

  constructor({ clock }: { clock: () => number }) {
    this.#clock = clock;
  }

  remember(device: string, message: M) {
    this.#forgetOld();
    if (message.payload.length > MAX_BYTES) return;
    this.#waiting.push({ device, arrivedAt: this.#clock(), message });
    if (this.#waiting.length > MAX_MESSAGES) this.#waiting.shift();
  }

  /** Returns the messages in order of arrival. */
  take(device: string): M[] {
    this.#forgetOld();
    const taken = this.#waiting.filter((entry) => entry.device === device);
    if (taken.length > 0) this.#waiting = this.#waiting.filter((entry) => entry.device !== device);
    return taken.map(({ message }) => message);
  }

  get size() {
    return this.#waiting.length;
  }

  #forgetOld() {
    const oldest = this.#clock() - KEPT_MS;
    this.#waiting = this.#waiting.filter(({ arrivedAt }) => arrivedAt >= oldest);
  }
}

/** Each message is also a dead letter, which remains if the storing fails. */
export function storeWaiting<M extends Message>(
  messages: M[],
  metrics: Pick<Metrics, 'messages'>,
  store: (message: M) => Promise<unknown>,
) {
  for (const message of messages) store(message).catch(() => metrics.messages.inc({ result: 'unsettled' }));
}
