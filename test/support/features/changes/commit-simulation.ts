import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CommitMark, CommitMarks } from '../../../../api/features/changes/commit-marks.ts';
import { CommitHorizon } from '../../../../api/features/changes/horizon.ts';
import { createRandom } from '../../../../simulator/random.ts';

const SECOND = 1000;
const BEGIN = Date.UTC(2026, 10, 22);
/** Limit of the difference between the clock of a process and the true time, in ms. */
const SKEW_MS = 60 * SECOND;

/** A commit of a process. A retry has a new timestamp. `stamp`: epoch ms */
type Commit = { id: number; stamp: number; isAcknowledged: boolean };

/** `at`: epoch ms of the true time */
type Event = { at: number; run: () => void };

/** A process: its clocks, and whether it runs. What it does while it is paused happens when it continues. */
type Process = {
  marks: CommitMarks;
  horizon: CommitHorizon;
  isDead: boolean;
  resumesAt: number;
  wall: () => number;
  skew: number;
};

/**
 * Simulates processes that commit, with clocks that differ and are set, and that pause, die and start. The database answers after random times.
 * Each process also reads changes, piece by piece. Time is virtual.
 */
export class CommitSimulation {
  #random;
  #time = BEGIN;
  /** Events to come, the latest first. */
  #events: Event[] = [];
  /** The table of marks, with the time from which a row is visible. */
  #table: Map<string, CommitMark> = new Map();
  /** Rows by id: the greatest write timestamp wins. */
  #rows: Map<number, number> = new Map();
  processes: Process[] = [];
  commits: Commit[] = [];
  readers: { process: Process; until: number; delivered: Set<number> }[] = [];
  /** Acknowledged commits that a reader had passed without them. */
  missed: string[] = [];
  #isCalm = false;

  constructor(seed: number) {
    this.#random = createRandom(seed, 'commits');
  }

  between(least: number, most: number) {
    return least + this.#random.uniform() * (most - least);
  }

  chance(probability: number) {
    return this.#random.uniform() < probability;
  }

  get now() {
    return this.#time;
  }

  /** @param delay ms */
  #after(delay: number, run: () => void) {
    const event = { at: this.#time + delay, run };
    // Most events are soon, so the place is searched from the end, which is the next event.
    let index = this.#events.length;
    while (index > 0 && (this.#events[index - 1] as Event).at <= event.at) index--;
    this.#events.splice(index, 0, event);
  }

  /** Runs a step of a process after a delay: later if it is paused then, and never if it is dead. */
  #inProcess(process: Process, delay: number, run: () => void) {
    this.#after(delay, () => {
      if (process.isDead) return;
      if (process.resumesAt > this.#time) this.#inProcess(process, process.resumesAt - this.#time, run);
      else run();
    });
  }

  /** Delay of a request on its way, in ms. */
  #delay() {
    return !this.#isCalm && this.chance(0.02) ? this.between(100, 20 * SECOND) : this.between(0, 30);
  }

  /**
   * Sends a request of a process to the database.
   * @param apply runs in the database
   * @returns rejects after 5 s without an answer, as in the driver; the request may be applied later
   */
  #request<T>(process: Process, apply: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      // A process may be paused between the stamp of a request and its sending.
      this.#inProcess(process, this.between(0, this.#isCalm ? 2 : 300), () => {
        this.#after(this.#delay(), () => {
          const answer = apply();
          this.#inProcess(process, this.#delay(), () => resolve(answer));
        });
        this.#inProcess(process, 5 * SECOND, () => reject(new Error('timeout')));
      });
    });
  }

  /** Reads the marks row by row, each at a time of its own, as a quorum of replicas may. */
  async #readMarks(process: Process) {
    const names = [...this.#table.keys()];
    const rows = await Promise.all(names.map((name) => this.#request(process, () => this.#table.get(name))));
    return rows.filter((row) => row !== undefined);
  }

  start() {
    const process: Process = {
      isDead: false,
      resumesAt: 0,
      skew: this.between(-SKEW_MS, SKEW_MS),
    } as never;
    const began = this.#time;
    const rate = this.between(0.99, 1.01);
    const monotonic = () => (this.#time - began) * rate;
    process.wall = () => Math.floor(this.#time + process.skew);
    const store = {
      write: (row: CommitMark) =>
        this.#request(process, () => {
          const stored = this.#table.get(row.process);
          if (!stored || stored.beat < row.beat) this.#table.set(row.process, row);
        }),
      allOrLocal: () => this.#readMarks(process),
    };
    process.marks = new CommitMarks({ store, clock: process.wall, monotonic, everyMs: 2 ** 30 });
    process.horizon = new CommitHorizon({
      stamps: process.marks,
      readAll: store.allOrLocal,
      monotonic,
      everyMs: 0,
    });
    this.processes.push(process);
    const keep = () => {
      Promise.resolve(process.marks.ready() ?? process.marks.mark()).catch(() => {});
      this.#inProcess(process, SECOND, keep);
    };
    keep();
    this.#commitLater(process);
    void this.#read({ process, until: 0, delivered: new Set() });
  }

  #commitLater(process: Process) {
    this.#inProcess(process, this.between(0, 600), () => {
      const commit = { id: this.commits.length, stamp: 0, isAcknowledged: false };
      this.commits.push(commit);
      void this.#commit(process, commit);
      this.#commitLater(process);
    });
  }

  async #commit(process: Process, commit: Commit) {
    for (;;) {
      try {
        await process.marks.ready();
        const stamp = process.marks.begin({ log: () => {} } as never);
        const ms = Math.floor(stamp / 1000);
        let mayAcknowledge = false;
        try {
          await this.#request(process, () => {
            this.#rows.set(commit.id, Math.max(this.#rows.get(commit.id) ?? 0, ms));
          });
        } finally {
          mayAcknowledge = process.marks.end(stamp);
        }
        if (mayAcknowledge) return this.#acknowledge(commit, ms);
      } catch {
        // The retry below.
      }
      await new Promise((resolve) => this.#inProcess(process, 200, () => resolve(undefined)));
    }
  }

  /** @param stamp epoch ms */
  #acknowledge(commit: Commit, stamp: number) {
    commit.isAcknowledged = true;
    commit.stamp = stamp;
    for (const { until, delivered } of this.readers)
      if (stamp <= until && !delivered.has(commit.id))
        this.missed.push(`${commit.id} at its acknowledgement`);
  }

  async #read(reader: { process: Process; until: number; delivered: Set<number> }) {
    this.readers.push(reader);
    const { process } = reader;
    for (;;) {
      const horizon = await process.horizon.read().catch(() => 0);
      if (horizon > reader.until) {
        const from = reader.until;
        const found = await this.#request(process, () =>
          [...this.#rows].filter(([, stamp]) => stamp > from && stamp <= horizon),
        ).catch(() => null);
        if (found) {
          for (const [id] of found) reader.delivered.add(id);
          reader.until = horizon;
          for (const { id, stamp, isAcknowledged } of this.commits)
            if (isAcknowledged && stamp > from && stamp <= horizon && !reader.delivered.has(id))
              this.missed.push(`${id} at a read`);
        }
      }
      await new Promise((resolve) => this.#inProcess(process, 300, () => resolve(undefined)));
    }
  }

  disturb() {
    const running = this.processes.filter(({ isDead }) => !isDead);
    const process = running[Math.floor(this.between(0, running.length))];
    if (!process) return;
    const kind = Math.floor(this.between(0, 5));
    if (kind === 0 && running.length > 2) process.isDead = true;
    else if (kind === 1 && running.length < 4) this.start();
    else if (kind === 2) process.skew = this.between(-SKEW_MS, SKEW_MS);
    else process.resumesAt = this.#time + this.between(10 * SECOND, 50 * SECOND);
  }

  /** Ends all faults: each clock is right, and no process pauses. */
  calm() {
    this.#isCalm = true;
    for (const process of this.processes) {
      process.skew = 0;
      process.resumesAt = 0;
    }
  }

  async run(ms: number) {
    const end = this.#time + ms;
    for (;;) {
      const event = this.#events.at(-1);
      if (!event || event.at > end) break;
      this.#events.pop();
      this.#time = event.at;
      event.run();
      await nextTurn();
    }
    this.#time = end;
  }
}
