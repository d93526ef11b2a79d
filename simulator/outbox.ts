import { performance } from 'node:perf_hooks';
import { Queue } from '../common/queue.ts';

export interface Message {
  topic: string;
  payload: string | Buffer;
  retain: boolean;
  samples: number;
  /** ledger line; null: no line is to be written */
  note: string | null;
  /** scheduled, in ms of `performance.now()`; null: as soon as possible */
  dueAt: number | null;
  /** latest sending, in ms of `performance.now()`; 0 before the first sending */
  sentAt: number;
  /** memory that the message takes */
  bytes: number;
  /** number in the ledger; null before the message is sent */
  entry: number | null;
  onSettled: ((acknowledged: boolean) => void) | null;
}

/** Size of a message, in addition to its text. */
const OVERHEAD_BYTES = 256;

export type NewMessage = Pick<Message, 'topic' | 'payload' | 'samples'> & Partial<Message>;

const complete = (message: NewMessage): Message => ({
  retain: false,
  note: null,
  dueAt: null,
  onSettled: null,
  ...message,
  sentAt: 0,
  entry: null,
  bytes: message.payload.length + (message.note?.length ?? 0) + OVERHEAD_BYTES,
});

/**
 * Keeps the pending messages of one connection in order: unacknowledged messages come before waiting messages.
 *
 *     push -> [ waiting ........ ] -> [ in flight, at most `window` ] -> acknowledged
 *               ^ the oldest is dropped     |              ^
 *                 beyond `limit`            v the connection breaks, and comes back
 *                                        [ to be sent again ]
 */
export class Outbox {
  #limit;
  #window;
  #send;
  #onAcknowledged;
  #onDropped;
  #waiting: Queue<Message> = new Queue();
  /** in the order of sending */
  #inFlight: Set<Message> = new Set();
  /** were sent on a broken connection, in the order of sending */
  #again: Message[] = [];
  #watchers: { max: number; resolve: () => void }[] = [];
  #open = false;
  #bytes = 0;

  constructor({
    limit,
    window,
    send,
    onAcknowledged,
    onDropped,
  }: {
    /**
     * of waiting messages, and of bytes of all pending messages. Above a limit the oldest waiting message is dropped. A message that was
     * sent is never dropped, because it may have arrived
     */
    limit: { messages: number; bytes: number };
    /** unacknowledged messages */
    window: number;
    send: (message: Message, onAcknowledged: () => void) => void;
    onAcknowledged: (message: Message) => void;
    onDropped: (message: Message) => void;
  }) {
    this.#limit = limit;
    this.#window = window;
    this.#send = send;
    this.#onAcknowledged = onAcknowledged;
    this.#onDropped = onDropped;
  }

  size(): number {
    return this.#inFlight.size + this.#again.length + this.#waiting.size;
  }

  push(message: NewMessage) {
    const whole = complete(message);
    this.#bytes += whole.bytes;
    this.#waiting.push(whole);
    this.#sendWhatMay();
    this.#dropWhatMust();
  }

  /** Must be called when the connection is established. */
  open() {
    this.#open = true;
    this.#sendWhatMay();
  }

  /** Must be called when the connection is lost. Unacknowledged messages are later sent again, before all other messages. */
  close() {
    this.#open = false;
    this.#again = [...this.#inFlight, ...this.#again];
    this.#inFlight.clear();
  }

  /** Resolves when at most `max` messages are pending, or on `release`. */
  whenAtMost(max: number): Promise<void> {
    if (this.size() <= max) return Promise.resolve();
    return new Promise((resolve) => {
      this.#watchers.push({ max, resolve });
    });
  }

  release() {
    for (const { resolve } of this.#watchers) resolve();
    this.#watchers = [];
  }

  #sendWhatMay() {
    while (this.#open && this.#inFlight.size < this.#window) {
      const message = this.#again.shift() ?? this.#waiting.shift();
      if (!message) return;
      this.#inFlight.add(message);
      message.sentAt = performance.now();
      this.#send(message, () => this.#acknowledge(message));
    }
  }

  #acknowledge(message: Message) {
    if (!this.#inFlight.delete(message)) return;
    this.#bytes -= message.bytes;
    this.#onAcknowledged(message);
    this.#sendWhatMay();
    this.#notifyWatchers();
  }

  #dropWhatMust() {
    while (
      this.#waiting.size > this.#limit.messages ||
      (this.#bytes > this.#limit.bytes && this.#waiting.size > 0)
    ) {
      const oldest = this.#waiting.shift() as Message;
      this.#bytes -= oldest.bytes;
      this.#onDropped(oldest);
    }
    this.#notifyWatchers();
  }

  #notifyWatchers() {
    if (this.#watchers.length === 0) return;
    for (const { resolve } of this.#watchers.filter(({ max }) => this.size() <= max)) resolve();
    this.#watchers = this.#watchers.filter(({ max }) => this.size() > max);
  }
}
