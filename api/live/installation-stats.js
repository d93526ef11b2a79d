import { formatTime } from '../../common/times.js';
import { isWell, parseSnapshot, statsOf } from '../observability/index.js';

/** @import { HealthReport, ProcessHealth } from '../observability/process-health.js' */
/** @import { Stats, StatsSnapshot, ProcessStats } from '../observability/process-stats.js' */
/** @import { Live } from './index.js' */

/**
 * Period in ms in which a process publishes its statistics. A process that missed two snapshots no longer
 * counts.
 */
const PUBLISH_EVERY_MS = 1000;
const COUNTS_FOR_MS = 3 * PUBLISH_EVERY_MS;

/** Number of seconds whose statistics are kept: five minutes. */
const MAX_RECENT = 300;

/** On a broker without access control any client may pose as a process. These limits bound the processes and their names. */
const MAX_PROCESSES = 1000;
const MAX_NAME_LENGTH = 1000;

/** Processes in a report of their health. Those with a failed check come first. */
const MAX_REPORTED = 100;

/**
 * The statistics of all processes of the installation together. Each process publishes its snapshot once a second. A process that
 * serves readers sums the snapshots of the last three seconds.
 */
export class InstallationStats {
  #processStats;
  #processHealth;
  #live;
  #serves;
  #clock;
  #monotonic;
  #everyMs;
  /** @type {Map<string, { snapshot: StatsSnapshot, receivedAt: number }>} */
  #others = new Map();
  /** The oldest first. @type {Array<{ ts: string } & Stats>} */
  #recent = [];
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #own = '';

  /**
   * @param {object} deps
   * @param {Pick<ProcessStats, 'snapshot'>} deps.processStats of this process
   * @param {Pick<ProcessHealth, 'read'>} deps.processHealth of this process
   * @param {Pick<Live, 'publishStats' | 'onStats'>} deps.live
   * @param {boolean} deps.serves whether this process serves readers; otherwise it only publishes
   * @param {() => number} deps.clock epoch ms
   * @param {() => number} [deps.monotonic] ms of a monotonic clock
   * @param {number} [deps.everyMs]
   */
  constructor(deps) {
    const {
      processStats,
      processHealth,
      live,
      serves,
      clock,
      monotonic = () => performance.now(),
      everyMs = PUBLISH_EVERY_MS,
    } = deps;
    this.#processStats = processStats;
    this.#processHealth = processHealth;
    this.#live = live;
    this.#serves = serves;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#everyMs = everyMs;
  }

  /** The statistics of now. */
  read() {
    this.#forgetStopped();
    return statsOf([
      this.#processStats.snapshot(),
      ...[...this.#others.values()].map(({ snapshot }) => snapshot),
    ]);
  }

  /**
   * The health of all processes that publish it. The report needs no database, so it also works while the
   * database is unavailable.
   *
   * @returns {Array<{ client_id: string } & HealthReport>}
   */
  health() {
    this.#forgetStopped();
    const others = [...this.#others].flatMap(([client_id, { snapshot }]) =>
      snapshot.health ? [{ client_id, ...snapshot.health }] : [],
    );
    const all = [{ client_id: this.#own, ...this.#processHealth.read() }, ...others];
    return all.sort((a, b) => Number(isWell(a)) - Number(isWell(b))).slice(0, MAX_REPORTED);
  }

  /** The statistics of the last five minutes, or since the start of this process: one a second, the oldest first. */
  recent() {
    return this.#recent;
  }

  /** Publishes once a second. @param {string} name of this process, unique in the installation */
  start(name) {
    this.#own = name;
    if (this.#serves) this.#live.onStats((process, payload) => this.#receive(process, payload));
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), this.#everyMs).unref();
  }

  /** Ends publishing. */
  stop() {
    clearInterval(this.#timer);
  }

  /** @param {string} name @param {Buffer} payload @returns {boolean} whether it is a valid snapshot of a process */
  #receive(name, payload) {
    if (name === this.#own) return true;
    const snapshot = name.length <= MAX_NAME_LENGTH ? parseSnapshot(payload) : null;
    if (!snapshot || (this.#others.size >= MAX_PROCESSES && !this.#others.has(name))) return false;
    this.#others.set(name, { snapshot, receivedAt: this.#monotonic() });
    return true;
  }

  /** Removes the processes that stopped publishing. */
  #forgetStopped() {
    const since = this.#monotonic() - COUNTS_FOR_MS;
    for (const [name, { receivedAt }] of this.#others) if (receivedAt < since) this.#others.delete(name);
  }

  #tick() {
    const snapshot = { ...this.#processStats.snapshot(), health: this.#processHealth.read() };
    this.#live.publishStats(this.#own, JSON.stringify(snapshot));
    if (this.#serves && this.#recent.push({ ts: formatTime(this.#clock()), ...this.read() }) > MAX_RECENT)
      this.#recent.shift();
  }
}
