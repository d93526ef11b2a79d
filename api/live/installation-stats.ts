import { formatTime } from '../../common/times.ts';
import { isWell, parseSnapshot, statsOf } from '../observability/index.ts';
import type { HealthReport, ProcessHealth } from '../observability/process-health.ts';
import type { ProcessStats, Stats, StatsSnapshot } from '../observability/process-stats.ts';
import type { Live } from './index.ts';

/** In ms. A process that missed two snapshots is no longer counted. */
const PUBLISH_EVERY_MS = 1000;
const COUNTS_FOR_MS = 3 * PUBLISH_EVERY_MS;

/** seconds: five minutes */
const MAX_RECENT = 300;

/** Snapshots beyond these limits are ignored, because any client may pose as a process on a broker without access control. */
const MAX_PROCESSES = 1000;
const MAX_NAME_LENGTH = 1000;

/** The limit of a health report. Processes with a failed check come first, so they are not left out. */
const MAX_REPORTED = 100;

/**
 * Each process publishes a snapshot of its statistics once a second. A process that serves readers (HTTP clients) sums
 * the newest snapshots of all processes that published within the last three seconds.
 */
export class InstallationStats {
  #processStats;
  #processHealth;
  #live;
  #serves;
  #clock;
  #monotonic;
  #everyMs;
  #others: Map<string, { snapshot: StatsSnapshot; receivedAt: number }> = new Map();
  #recent: Array<{ ts: string } & Stats> = [];
  #timer: NodeJS.Timeout | undefined;
  #own = '';

  constructor(deps: {
    processStats: Pick<ProcessStats, 'snapshot'>;
    processHealth: Pick<ProcessHealth, 'read'>;
    live: Pick<Live, 'publishStats' | 'onStats'>;
    /** this process serves readers; otherwise it only publishes */
    serves: boolean;
    clock: () => number;
    monotonic?: () => number;
    everyMs?: number;
  }) {
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

  read() {
    this.#forgetStopped();
    return statsOf([
      this.#processStats.snapshot(),
      ...[...this.#others.values()].map(({ snapshot }) => snapshot),
    ]);
  }

  /** Needs no database, so it also works while the database is unavailable. */
  health(): Array<{ client_id: string } & HealthReport> {
    this.#forgetStopped();
    const others = [...this.#others].flatMap(([client_id, { snapshot }]) =>
      snapshot.health ? [{ client_id, ...snapshot.health }] : [],
    );
    const all = [{ client_id: this.#own, ...this.#processHealth.read() }, ...others];
    return all.sort((a, b) => Number(isWell(a)) - Number(isWell(b))).slice(0, MAX_REPORTED);
  }

  /** One entry per second of the last five minutes, or since the start of this process, the oldest first. */
  recent() {
    return this.#recent;
  }

  /** @param name unique in the installation */
  start(name: string) {
    this.#own = name;
    if (this.#serves) this.#live.onStats((process, payload) => this.#receive(process, payload));
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), this.#everyMs).unref();
  }

  stop() {
    clearInterval(this.#timer);
  }

  #receive(name: string, payload: Buffer): boolean {
    if (name === this.#own) return true;
    const snapshot = name.length <= MAX_NAME_LENGTH ? parseSnapshot(payload) : null;
    if (!snapshot || (this.#others.size >= MAX_PROCESSES && !this.#others.has(name))) return false;
    this.#others.set(name, { snapshot, receivedAt: this.#monotonic() });
    return true;
  }

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
