import { performance } from 'node:perf_hooks';
import { Queue } from '../../../../common/queue.ts';
import type { ByteBudget } from '../../../ingest/admission/byte-budget.ts';

/** Packets have a limit too, because much work happens after the read: 10,000 SUBSCRIBE take 0.2 s to parse, and 1 s to answer. */
const TURN_MS = 8;
const TURN_PACKETS = 512;

/**
 * Shares the event loop between the connections of the broker. Each connection reads one slice of packets, and then moves to the end of
 * the queue. In one turn, which is an iteration of the event loop, reading ends after `TURN_MS` or `TURN_PACKETS`.
 *
 * Connections with messages wait while the byte budget is full. New connections and last wills do not: the broker always answers a
 * CONNECT, and last wills have their own limit.
 */
export class ReadScheduler {
  #room: Room;
  #messages: Queue<() => void> = new Queue();
  #others: Queue<() => void> = new Queue();
  #isOthersTurn = false;
  #isScheduled = false;
  #isResuming = false;
  /** Ms of `performance.now()`. null: no packet was read in this turn. */
  #began: number | null = null;
  #packets = 0;

  constructor(room: Room) {
    this.#room = room;
    room.onFree(() => this.#schedule());
  }

  /** If it returns false, the connection must call `wait`. */
  mayRead(needsRoom: boolean): boolean {
    if (needsRoom && this.#room.isFull) return false;
    // The scheduler has resumed this connection, so it may read even if the time of the turn has ended since.
    if (this.#isResuming) return true;
    const isFirst = this.#others.size === 0 && (this.#messages.size === 0 || !needsRoom);
    return isFirst && this.#hasTime();
  }

  spend(packets: number) {
    this.#packets += packets;
  }

  /** Queues a connection, or the end of a broken one. `resume` is called once, in a turn with time left. Returns the cancellation. */
  wait(resume: () => void, needsRoom: boolean): () => void {
    const cancel = (needsRoom ? this.#messages : this.#others).push(resume);
    this.#schedule();
    return cancel;
  }

  get waiting() {
    return this.#messages.size + this.#others.size;
  }

  #hasTime(): boolean {
    if (this.#began === null) {
      this.#began = performance.now();
      this.#packets = 0;
      this.#scheduleTurn();
      return true;
    }
    return this.#packets < TURN_PACKETS && performance.now() - this.#began < TURN_MS;
  }

  #schedule() {
    if (this.#others.size > 0 || (this.#messages.size > 0 && !this.#room.isFull)) this.#scheduleTurn();
  }

  #scheduleTurn() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  #turn = () => {
    this.#isScheduled = false;
    this.#began = null;
    this.#isResuming = true;
    try {
      for (let resume = this.#next(); resume; resume = this.#next()) resume();
    } finally {
      this.#isResuming = false;
      this.#schedule();
    }
  };

  #next(): (() => void) | undefined {
    const messages = this.#room.isFull ? undefined : this.#messages;
    if (this.#others.size === 0 && !messages?.size) return undefined;
    if (!this.#hasTime()) return undefined;
    this.#isOthersTurn = !this.#isOthersTurn;
    const [first, second] = this.#isOthersTurn ? [this.#others, messages] : [messages, this.#others];
    return first?.shift() ?? second?.shift();
  }
}

type Room = Pick<ByteBudget, 'isFull' | 'onFree'>;
