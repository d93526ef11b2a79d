import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'cassandra-driver';
import { MillraceError } from '../../../common/errors.ts';
import { PART } from '../../../schema/migrate/installation.ts';
import { int64, msOfStamp, readStamp, type Stamp, WriteTimestamps } from '../../store/index.ts';
import type { Session } from '../../store/sending/session.ts';
import type { CommitStamps } from '../../store/sending/stamps.ts';

/** In seconds. A mark outlives the largest difference of clocks, so a process that joins later needs no expired mark. */
const TTL_S = 600;

const WRITE = {
  name: 'write_commit_mark',
  cql: `INSERT INTO commit_mark (part, process, mark, beat, ended) VALUES (?, ?, ?, ?, ?) USING TTL ${TTL_S}`,
};
const SELECT = {
  name: 'read_commit_marks',
  cql: 'SELECT process, mark, beat, ended FROM commit_mark WHERE part = ?',
};

const MARK_EVERY_MS = 1000;

/** A process may commit for this time after its last mark, in ms. Then it has to join again. */
export const LEASE_MS = 15_000;

/** When a process ends, the database may be unavailable. */
const LAST_MARK_TIMEOUT_MS = 1000;

export interface CommitMark {
  process: string;
  /** epoch ms: all commits with write timestamps up to this time are finished; 0 or less: the process is joining, and its mark was `-mark` */
  mark: number;
  beat: number;
  /** the process commits nothing more */
  ended: boolean;
}

/** @param everywhere asks each data center */
export function createCommitMarkStore(session: Session, everywhere: Session = session) {
  async function read(from: Session): Promise<CommitMark[]> {
    const rows = await from.all(SELECT, [PART]);
    return rows.map((row) => ({
      process: row['process'],
      mark: row['mark'].getTime(),
      beat: Number(row['beat']),
      ended: row['ended'],
    }));
  }

  return {
    write: ({ process, mark, beat, ended }: CommitMark) =>
      session.write(WRITE, [PART, process, int64(mark), int64(beat), ended]),

    /** Of the processes in all data centers. */
    all: () => read(everywhere),

    /** While another data center cannot be reached, no reader passes its marks, and this process must be able to commit. */
    allOrLocal: () => read(everywhere).catch(() => read(session)),
  };
}

type CommitMarkStore = Pick<ReturnType<typeof createCommitMarkStore>, 'write' | 'allOrLocal'>;

/**
 * Stamps the commits of this process, and reports once a second up to which write timestamp they are finished: its mark. Readers of changes
 * read up to the smallest mark of all processes. Invariant: after a mark, this process never acknowledges a commit whose timestamp is not
 * greater.
 *
 * Readers ignore a process whose mark has not changed for longer than `LEASE_MS`. So this process may only acknowledge within `LEASE_MS`
 * after it began to write its last mark. A commit that is answered later fails, and its retry gets a new timestamp. To commit again, the
 * process joins: it writes a row that holds all readers, then reads the marks of all processes, and continues after the greatest of them.
 */
export class CommitMarks implements CommitStamps {
  #store;
  #clock;
  #monotonic;
  #everyMs;
  #process;
  #stamps;
  #isTrusted = () => true;
  /** Number of unanswered commits by write timestamp, in epoch ms. */
  #underWay: Map<number, number> = new Map();
  /** All later commits get greater timestamps, in epoch ms. */
  #floor = 0;
  #beat = 0;
  /** When the write of the last mark began; null: this process has not joined. */
  #markedAt: Instant | null = null;
  #joining: Promise<void> | null = null;
  #isWriting = false;
  #isEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({
    store,
    clock,
    monotonic = () => performance.now(),
    everyMs = MARK_EVERY_MS,
  }: {
    store: CommitMarkStore;
    clock: () => number;
    monotonic?: () => number;
    everyMs?: number;
  }) {
    this.#store = store;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#everyMs = everyMs;
    this.#process = randomUUID();
    // The timestamps follow the clock, even when it is set back, but never to a time before a mark.
    this.#stamps = new WriteTimestamps(() => Math.max(clock(), this.#floor + 1));
  }

  /** Without this call the clock is always trusted. */
  trustClock(isTrusted: () => boolean) {
    this.#isTrusted = isTrusted;
  }

  /** Greatest write timestamp of this process, in epoch ms. It may be ahead of the clock; 0: none. */
  get stampedAt() {
    return this.#stamps.lastMs;
  }

  /**
   * Joins the processes that commit, if this process is none of them.
   * @returns undefined: this process may commit now
   * @throws `unavailable`
   */
  ready(): Promise<void> | undefined {
    if (this.#isHeld()) return undefined;
    this.#joining ??= this.#join().finally(() => {
      this.#joining = null;
    });
    return this.#joining;
  }

  begin(client: Client): Stamp {
    const stamp = readStamp(this.#stamps.next(client));
    const ms = msOfStamp(stamp);
    this.#underWay.set(ms, (this.#underWay.get(ms) ?? 0) + 1);
    return stamp;
  }

  /** @returns whether the commit may be acknowledged; false: readers may have passed its timestamp */
  end(stamp: Stamp): boolean {
    const ms = msOfStamp(stamp);
    const count = this.#underWay.get(ms) ?? 0;
    if (count > 1) this.#underWay.set(ms, count - 1);
    else this.#underWay.delete(ms);
    return ms > this.#floor && this.#isHeld();
  }

  /** If the write fails, the next mark tries again. */
  async mark() {
    if (this.#isWriting || !this.#isTrusted()) return;
    this.#isWriting = true;
    try {
      const begun = this.#now();
      this.#floor = this.#finishedUntil(begun.wall);
      await this.#write(this.#floor);
      // An answer after the end of the lease does not extend it, because readers may ignore this process by now.
      if (this.#isHeld()) this.#markedAt = begun;
    } finally {
      this.#isWriting = false;
    }
  }

  async stop() {
    clearInterval(this.#timer);
    this.#isEnded = true;
    if (this.#beat === 0) return;
    const last = this.#write(this.#finishedUntil(this.#clock()), true).catch(() => {});
    await Promise.race([last, sleep(LAST_MARK_TIMEOUT_MS, undefined, { ref: false })]);
  }

  async #join() {
    if (this.#isEnded || !this.#isTrusted()) throw new MillraceError('unavailable', NOT_READY);
    this.#timer ??= setInterval(() => void this.#keep(), this.#everyMs).unref();
    const begun = this.#now();
    // The row keeps the mark before, which readers may have passed. Otherwise a process that joins at the same time would not see it.
    await this.#write(0 - this.#floor);
    const marks = (await this.#store.allOrLocal()).map(({ mark }) => Math.abs(mark));
    this.#floor = Math.max(this.#floor, ...marks);
    this.#markedAt = begun;
    // The first mark follows at once, because readers wait for it.
    void this.#keep();
    if (!this.#isHeld()) throw new MillraceError('unavailable', NOT_READY);
  }

  /** A failure is repeated a second later, and shows in the writes of samples. */
  #keep() {
    const kept = this.#isHeld() ? this.mark() : this.ready();
    return Promise.resolve(kept).catch(() => {});
  }

  #finishedUntil(now: number): number {
    let oldest = now;
    // Commits up to the floor are not acknowledged, whatever the answer.
    for (const ms of this.#underWay.keys()) if (ms > this.#floor && ms < oldest) oldest = ms;
    return Math.max(this.#floor, oldest - 1);
  }

  #write(mark: number, ended: boolean = false) {
    return this.#store.write({ process: this.#process, mark, beat: ++this.#beat, ended });
  }

  #now(): Instant {
    return { wall: this.#clock(), monotonic: this.#monotonic() };
  }

  /** Both clocks are compared, because the monotonic one stops while a machine sleeps. */
  #isHeld() {
    if (this.#markedAt === null || this.#isEnded) return false;
    const { wall, monotonic } = this.#markedAt;
    return Math.max(this.#clock() - wall, this.#monotonic() - monotonic) <= LEASE_MS;
  }
}

type Instant = { wall: number; monotonic: number };

const NOT_READY = 'This process may not commit now: its last mark is too old, or its clock is not trusted';
