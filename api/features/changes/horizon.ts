import { performance } from 'node:perf_hooks';
import type { CommitStamps } from '../../store/sending/stamps.ts';
import { type CommitMark, LEASE_MS } from './commit-marks.ts';

const READ_EVERY_MS = 500;

/**
 * Time in ms without a new mark after which a process is ignored. It is longer than the lease, after which the process acknowledges
 * nothing, because two monotonic clocks do not run equally fast.
 */
const IGNORE_AFTER_MS = LEASE_MS + 5000;

/**
 * The time up to which all commits are visible, and to which no commit is added: the smallest mark of all processes that commit.
 *
 * The marks come from one read, and the list of processes from the next. So a process that is missing in the list joined after the marks
 * were read, and continues after the greatest of them.
 */
export class CommitHorizon {
  #stamps;
  #readAll;
  #monotonic;
  #everyMs;
  /** Newest marks by process, with the time of their first read. */
  #known: Map<string, { row: CommitMark; since: number }> = new Map();
  #until = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor({
    stamps,
    readAll,
    monotonic = () => performance.now(),
    everyMs = READ_EVERY_MS,
  }: {
    /** of this process */
    stamps: Pick<CommitStamps, 'ready'>;
    /** reads the marks of all processes */
    readAll: () => Promise<CommitMark[]>;
    monotonic?: () => number;
    everyMs?: number;
  }) {
    this.#stamps = stamps;
    this.#readAll = readAll;
    this.#monotonic = monotonic;
    this.#everyMs = everyMs;
  }

  /** In epoch ms. A later read finds no further commit up to this time, and it never decreases; 0: not known yet. @throws `unavailable` */
  async read(): Promise<number> {
    if (this.#monotonic() - this.#readAt >= this.#everyMs) {
      this.#reading ??= this.#readMarks().finally(() => {
        this.#reading = null;
      });
      await this.#reading;
    }
    return this.#until;
  }

  async #readMarks() {
    // This process joins too, so that a mark goes on even if no other process commits. If its clock is wrong, it cannot join, and the
    // marks of the others go on.
    await this.#stamps.ready()?.catch(() => {});
    const begun = this.#monotonic();
    const rows = await this.#readAll();
    const now = this.#monotonic();
    const known = new Map();
    let until = Number.POSITIVE_INFINITY;
    for (const row of rows) {
      const last = this.#known.get(row.process);
      const since = last?.row.beat === row.beat ? last.since : now;
      known.set(row.process, { row, since });
      // This process may have paused since the row was read, so only the time until the read began shows that its process is silent.
      if (row.ended || begun - since > IGNORE_AFTER_MS) continue;
      until = Math.min(until, last?.row.mark ?? 0);
    }
    this.#known = known;
    this.#readAt = now;
    if (until < Number.POSITIVE_INFINITY) this.#until = Math.max(this.#until, until);
  }
}
