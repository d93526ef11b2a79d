import { randomUUID } from 'node:crypto';
import { uuidBytes } from '../../../schema/ids.ts';
import { type JournalStore, segmentOf } from '../../store/journal/index.ts';
import type { Partition, PendingRow } from '../../store/sending/pending-rows.ts';

/** In bytes and ms. A segment is deleted as a whole, and is one partition. */
const MAX_SEGMENT_BYTES = 16 * 1024 * 1024;
const MAX_SEGMENT_MS = 10_000;

/** In beats. */
export const STALE_BEATS = 10;

type Segment = { number: number; partition: Partition; since: number; bytes: number; inFlight: number };

/**
 * The journal of one start of a process. Another process takes it over when its beat has not changed for 20 beats (`takeover.ts`). So a run
 * whose last beat is older than 10 acknowledges nothing more, and never beats again.
 */
export class JournalRun {
  id = uuidBytes(randomUUID());
  #store;
  #process;
  #staleMs;
  #segments: Segment[];
  #announced = 0;
  #beat = 0;
  /** When the last successful beat began, in ms of `performance.now()`. */
  #lastBeatAt = Number.NEGATIVE_INFINITY;

  /** @param first number of the first segment */
  constructor({
    store,
    process,
    first,
    beatMs,
  }: { store: JournalStore; process: string; first: number; beatMs: number }) {
    this.#store = store;
    this.#process = process;
    this.#staleMs = STALE_BEATS * beatMs;
    this.#segments = [this.#open(first, performance.now())];
  }

  isFresh(now: number): boolean {
    return now - this.#lastBeatAt < this.#staleMs;
  }

  get segment(): number {
    return this.#current.number;
  }

  append(now: number, bytes: number, write: (partition: Partition) => PendingRow) {
    const { number, since, bytes: size } = this.#current;
    const isFull = size > MAX_SEGMENT_BYTES || now - since > MAX_SEGMENT_MS;
    // A process that takes over reads the announced segments only.
    if (isFull && number < this.#announced) this.#segments.push(this.#open(number + 1, now));
    const segment = this.#current;
    segment.bytes += bytes;
    segment.inFlight++;
    const row = write(segment.partition);
    return { row, segment };
  }

  settle(segment: Segment) {
    segment.inFlight--;
  }

  /** Announces the next segment, and that this run lives. @throws `unavailable` */
  async beat(): Promise<void> {
    const began = performance.now();
    const isFirst = this.#beat === 0;
    if (!isFirst && !this.isFresh(began)) return;
    const newest = this.#current.number + 1;
    await this.#store.writeRun(this.#row(newest, false));
    this.#announced = newest;
    this.#lastBeatAt = began;
  }

  /** @param from the first segment whose samples still wait; null: none waits */
  async removeWritten(from: number | null): Promise<void> {
    while (this.#segments.length > 1) {
      const [first] = this.#segments as [Segment];
      if (first.inFlight > 0 || (from !== null && first.number >= from)) return;
      await this.#store.removeSegment(this.id, first.number);
      this.#segments.shift();
    }
  }

  /** @param isWritten the rows of all its samples are written */
  async end(isWritten: boolean): Promise<void> {
    if (this.#beat === 0 || !this.isFresh(performance.now())) return;
    if (!isWritten) return this.#store.writeRun(this.#row(this.#announced, true));
    for (const { number } of this.#segments) await this.#store.removeSegment(this.id, number);
    await this.#store.removeRun(this.id);
  }

  get #current(): Segment {
    return this.#segments.at(-1) as Segment;
  }

  #row(newest: number, ended: boolean) {
    const { number: oldest } = this.#segments[0] as Segment;
    return { run: this.id, process: this.#process, oldest, newest, beat: ++this.#beat, ended };
  }

  #open(number: number, now: number): Segment {
    return { number, partition: segmentOf(this.id, number), since: now, bytes: 0, inFlight: 0 };
  }
}
