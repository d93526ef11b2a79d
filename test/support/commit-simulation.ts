import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommitMarks } from '../../api/store/commit-marks.js';
import { CommitHorizon } from '../../api/stream-out/changes/horizon.js';
import { createRandom } from '../../simulator/random.js';

/** @import { CommitMark } from '../../api/store/commit-marks.js' */

const SECOND = 1000;
const BEGIN = Date.UTC(2026, 10, 22);
/** Limit of the difference between the clock of a process and the true time, in ms. */
const SKEW_MS = 60 * SECOND;

/**
 * A commit of a process. A retry has a new timestamp.
 *
 * @typedef {{ id: number, stamp: number, isAcknowledged: boolean }} Commit `stamp`: epoch ms
 */

/** @typedef {{ at: number, run: () => void }} Event `at`: epoch ms of the true time */

/**
 * A process: its clocks, and whether it runs. What it does while it is paused happens when it continues.
 *
 * @typedef {{ marks: CommitMarks, horizon: CommitHorizon, isDead: boolean, resumesAt: number, wall: () => number, skew: number }} Process
 */

/**
 * Simulates processes that commit, with clocks that differ and are set, and that pause, die and start. The database answers after random times.
 * Each process also reads changes, piece by piece. Time is virtual.
 */
export class CommitSimulation {
  #random;
  #time = BEGIN;
  /** Events to come, the latest first. @type {Event[]} */
  #events = [];
  /** The table of marks, with the time from which a row is visible. @type {Map<string, CommitMark>} */
  #table = new Map();
  /** Rows by id: the greatest write timestamp wins. @type {Map<number, number>} */
  #rows = new Map();
  /** @type {Process[]} */
  processes = [];
  /** @type {Commit[]} */
  commits = [];
  /** @type {{ process: Process, until: number, delivered: Set<number> }[]} */
  readers = [];
  /** Acknowledged commits that a reader had passed without them. @type {string[]} */
  missed = [];
  #isCalm = false;

  /** @param {number} seed */
  constructor(seed) {
    this.#random = createRandom(seed, 'commits');
  }

  /** @param {number} least @param {number} most */
  between(least, most) {
    return least + this.#random.uniform() * (most - least);
  }

  /** @param {number} probability */
  chance(probability) {
    return this.#random.uniform() < probability;
  }

  get now() {
    return this.#time;
  }

  /** @param {number} delay ms @param {() => void} run */
  #after(delay, run) {
    const event = { at: this.#time + delay, run };
    // Most events are soon, so the place is searched from the end, which is the next event.
    let index = this.#events.length;
    while (index > 0 && /** @type {Event} */ (this.#events[index - 1]).at <= event.at) index--;
    this.#events.splice(index, 0, event);
  }

  /** Runs a step of a process after a delay: later if it is paused then, and never if it is dead. @param {Process} process @param {number} delay @param {() => void} run */
  #inProcess(process, delay, run) {
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
   *
   * @template T
   * @param {Process} process
   * @param {() => T} apply runs in the database
   * @returns {Promise<T>} rejects after 5 s without an answer, as in the driver; the request may be applied later
   */
  #request(process, apply) {
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

  /** Reads the marks row by row, each at a time of its own, as a quorum of replicas may. @param {Process} process */
  async #readMarks(process) {
    const names = [...this.#table.keys()];
    const rows = await Promise.all(names.map((name) => this.#request(process, () => this.#table.get(name))));
    return rows.filter((row) => row !== undefined);
  }

  start() {
    /** @type {Process} */
    const process = /** @type {any} */ ({
      isDead: false,
      resumesAt: 0,
      skew: this.between(-SKEW_MS, SKEW_MS),
    });
    const began = this.#time;
    const rate = this.between(0.99, 1.01);
    const monotonic = () => (this.#time - began) * rate;
    process.wall = () => Math.floor(this.#time + process.skew);
    const store = {
      write: (/** @type {CommitMark} */ row) =>
        this.#request(process, () => {
          const stored = this.#table.get(row.process);
          if (!stored || stored.beat < row.beat) this.#table.set(row.process, row);
        }),
      all: () => this.#readMarks(process),
    };
    process.marks = new CommitMarks({ store, clock: process.wall, monotonic, everyMs: 2 ** 30 });
    process.horizon = new CommitHorizon({ marks: process.marks, monotonic, everyMs: 0 });
    this.processes.push(process);
    const keep = () => {
      Promise.resolve(process.marks.ready() ?? process.marks.mark()).catch(() => {});
      this.#inProcess(process, SECOND, keep);
    };
    keep();
    this.#commitLater(process);
    void this.#read({ process, until: 0, delivered: new Set() });
  }

  /** @param {Process} process */
  #commitLater(process) {
    this.#inProcess(process, this.between(0, 600), () => {
      const commit = { id: this.commits.length, stamp: 0, isAcknowledged: false };
      this.commits.push(commit);
      void this.#commit(process, commit);
      this.#commitLater(process);
    });
  }

  /** @param {Process} process @param {Commit} commit */
  async #commit(process, commit) {
    for (;;) {
      try {
        await process.marks.ready();
        const stamp = process.marks.begin(/** @type {any} */ ({ log: () => {} }));
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

  /** @param {Commit} commit @param {number} stamp epoch ms */
  #acknowledge(commit, stamp) {
    commit.isAcknowledged = true;
    commit.stamp = stamp;
    for (const { until, delivered } of this.readers)
      if (stamp <= until && !delivered.has(commit.id))
        this.missed.push(`${commit.id} at its acknowledgement`);
  }

  /** @param {{ process: Process, until: number, delivered: Set<number> }} reader */
  async #read(reader) {
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

  /** Lets something go wrong. */
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

  /** Runs for a time. @param {number} ms */
  async run(ms) {
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
