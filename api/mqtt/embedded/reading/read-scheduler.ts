import { performance } from 'node:perf_hooks';
import { Queue } from '../../../../common/queue.ts';
import type { ByteBudget } from '../../../ingest/admission/byte-budget.ts';

/**
 * Limits of reading in one iteration of the event loop: time in ms, and number of packets. At a limit, reading continues
 * in the next iteration. Packets have a limit too, because much of their work happens after the read: 10,000 SUBSCRIBE
 * packets take 0.2 s to parse, and 1 s to answer.
 */
const TURN_MS = 8;
const TURN_PACKETS = 512;

/**
 * Shares the event loop between the connections of the broker. Each connection reads one slice of packets, and then
 * moves to the end of the queue. In one turn, which is an iteration of the event loop, reading ends after `TURN_MS` or
 * `TURN_PACKETS`. Timers, HTTP and the database run before the next turn.
 *
 * Two queues are served alternately. Connections with messages wait while the byte budget is full. New connections and
 * last wills do not wait for the budget: the broker always answers a CONNECT, and last wills have their own limit.
 */
export class ReadScheduler {
  /** The byte budget. */
  #room: Room;
  #messages: Queue<() => void> = new Queue();
  #others: Queue<() => void> = new Queue();
  #isOthersTurn = false;
  #isScheduled = false;
  #isResuming = false;
  /** Start of the turn, in ms of `performance.now()`. null: no packet was read in this turn */
  #began: number | null = null;
  #packets = 0;

  /** @param room byte budget for messages */
  constructor(room: Room) {
    this.#room = room;
    room.onFree(() => this.#schedule());
  }

  /**
   * @param needsRoom whether the read waits for the byte budget
   * @returns whether a connection may read a slice now; if not, the connection must call `wait`
   */
  mayRead(needsRoom: boolean): boolean {
    if (needsRoom && this.#room.isFull) return false;
    // The scheduler has resumed this connection, so it may read even if the time of the turn has ended since.
    if (this.#isResuming) return true;
    const isFirst = this.#others.size === 0 && (this.#messages.size === 0 || !needsRoom);
    return isFirst && this.#hasTime();
  }

  /** Counts packets that were read. */
  spend(packets: number) {
    this.#packets += packets;
  }

  /**
   * Queues a connection, or the end of a broken connection.
   * @param resume called once, in a turn with time left
   * @param needsRoom whether the read waits for the byte budget
   * @returns cancels the wait
   */
  wait(resume: () => void, needsRoom: boolean): () => void {
    const cancel = (needsRoom ? this.#messages : this.#others).push(resume);
    this.#schedule();
    return cancel;
  }

  /** Number of waiting connections and last wills. */
  get waiting() {
    return this.#messages.size + this.#others.size;
  }

  /** @returns whether this turn has time left; the first call begins the turn */
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

  /** @returns the next waiting connection, removed from its queue */
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
