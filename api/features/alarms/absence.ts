import type { Logger } from 'pino';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import { MillraceError } from '../../../common/errors.ts';
import { DAY_MS } from '../../../schema/rules.ts';
import type { Device } from '../../ingest/registry/cache.ts';
import type { UnwatchedTime } from '../../observability/watched-time.ts';
import type { Store } from '../../store/index.ts';
import type { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts';
import { KeptSamples } from './kept-samples.ts';
import { newestOf } from './rules/rule.ts';
import type { RuleRegistry } from './rules/rule-registry.ts';
import type { AlarmProgress } from './store/progress.ts';
import { readDevices, type WatchedDevice } from './watched-device.ts';
import type { Watch } from './watched-sensor.ts';

/** Period in ms after which a process renews its leases. A lease lasts three times as long. */
const RENEW_EVERY_MS = 5000;

/** Limit of leases that are renewed concurrently. One after the other, 1,000 renewals take longer than a lease lasts. */
const LEASES_AT_ONCE = 16;

/** The sensors of a group are read again after this time in ms, because sensors are added and reporting intervals change. */
const REREAD_EVERY_MS = 60_000;

/** Age in ms up to which unwatched periods are read. Only a rule that counts reporting intervals can wait for a longer silence. */
const UNWATCHED_MS = 31 * DAY_MS;

/** A group of devices whose lease this process holds. */
interface HeldGroup {
  devices: Map<string, WatchedDevice>;
  /** by `performance.now()`; -Infinity: not read yet */
  readAt: number;
  /** generation of the rules with which the sensors were read */
  generation: number;
  /** whether open episodes were taken over after the last read of the sensors */
  isTakenOver: boolean;
  /** whether `devices` were read before this process took the lease */
  isResumed: boolean;
  watch: Watch;
}

/**
 * Finds silent sensors in time, whichever process receives the samples: the holder of a group's lease knows when each silence becomes too
 * long, and then reads the newest sample again. It also takes over the group's open episodes after each read of the sensors. A process that
 * cannot receive or commit samples must not judge silence, so it holds no lease. The samples it kept before that time show a silence that
 * ended before its next lease.
 */
export class AbsenceWatch {
  #deps;
  #owner;
  #groups;
  #rereadMs;
  #renewMs;
  #kept;
  #held: Map<number, HeldGroup> = new Map();
  #generation = 0;
  #timer: NodeJS.Timeout | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #unwatched: Promise<Omit<Watch, 'since'>> | null = null;
  #isUnwatchedUnknown = false;
  #round: Promise<void> = Promise.resolve();
  /** Earliest time that counts for sensors without a sample, in epoch ms; null: not read yet. */
  #unsentFrom: number | null = null;
  #isWatching = false;
  #stopped = false;

  constructor(deps: {
    store: Pick<Store, 'fleet' | 'devices'>;
    leases: AlarmProgress;
    rules: RuleRegistry;
    scheduler: EvaluationScheduler;
    takeOverOpenEpisodes: (group: number) => Promise<void>;
    peek: (id: string) => Device | undefined;
    receives: boolean;
    /** whether this process receives samples now, and can commit them */
    watches: () => boolean;
    unwatchedTime: Pick<UnwatchedTime, 'read'>;
    clock: () => number;
    logger: Logger;
    owner: string;
    groups: number;
    everyMs: number;
    rereadMs?: number;
    renewMs?: number;
    /** limit for a read of the newest samples of all groups */
    readWithinMs?: number;
  }) {
    this.#deps = deps;
    this.#owner = deps.owner;
    this.#groups = deps.groups;
    this.#rereadMs = deps.rereadMs ?? REREAD_EVERY_MS;
    this.#renewMs = deps.renewMs ?? RENEW_EVERY_MS;
    this.#kept = new KeptSamples(deps);
    deps.rules.onChange(() => this.#generation++);
  }

  /** Must be called before devices can send. Resolves after the newest samples were read, or after 3 s. */
  async start(): Promise<void> {
    if (this.#deps.receives) await this.#keepNewest();
    this.#later();
  }

  async stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    await this.#release();
  }

  get held() {
    return this.#held.size;
  }

  #later() {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#once().then(() => this.#later());
    }, this.#deps.everyMs).unref();
  }

  async #once() {
    if (this.#deps.rules.isEmpty && this.#held.size === 0) return;
    if (!this.#deps.watches()) return this.#pause();
    this.#isWatching = true;
    await this.#renewIfDue();
    for (const group of [...this.#held.keys()]) {
      if (this.#stopped || !this.#deps.watches()) return;
      await this.#try(() => this.#look(group));
      await this.#try(() => this.#takeOver(group));
      await this.#renewIfDue();
    }
  }

  /** Keeps the newest samples of all groups for the next leases. */
  async #pause() {
    await this.#release();
    if (!this.#isWatching) return;
    this.#isWatching = false;
    // If other processes pause as well, this process may hold the leases of their groups afterwards.
    await this.#keepNewest();
  }

  async #keepNewest() {
    const rules = this.#rulesOfAbsence();
    if (rules.length === 0) return;
    const groups = [...Array(this.#groups).keys()].filter((group) => !this.#kept.has(group));
    await this.#kept.readAll(groups, (group, signal) =>
      this.#try(() => this.#readDevices({ group, rules, signal })),
    );
  }

  async #readDevices(options: Omit<Parameters<typeof readDevices>[1], 'unsentFrom'>) {
    this.#unsentFrom ??= await this.#deps.leases.unsentFrom();
    return readDevices(this.#deps.store.fleet, { ...options, unsentFrom: this.#unsentFrom });
  }

  #keep(group: number, { devices, readAt, isResumed }: HeldGroup) {
    if (isResumed || readAt !== Number.NEGATIVE_INFINITY) this.#kept.keep(group, devices);
  }

  async #release() {
    const groups = [...this.#held.keys()];
    for (const [group, held] of this.#held) this.#keep(group, held);
    this.#held.clear();
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await Promise.all(groups.map((group) => this.#deps.leases.release(group, this.#owner).catch(() => {})));
  }

  /** A failure is logged, and does not delay the other groups. */
  async #try<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#deps.logger.debug({ reason: String(error) }, 'absence could not be looked for');
      return undefined;
    }
  }

  /** Renews soon enough that one failure does not let a lease expire. */
  async #renewIfDue() {
    if (performance.now() - this.#renewedAt < this.#renewMs) return;
    this.#unwatched = null;
    await forEachConcurrently(LEASES_AT_ONCE, Array(this.#groups).keys(), async (group) => {
      if (!this.#stopped) await this.#try(() => this.#renew(group));
    });
    this.#renewedAt = performance.now();
  }

  async #renew(group: number) {
    const { leases, clock } = this.#deps;
    const held = this.#held.get(group);
    if (held) {
      if (await leases.renew(group, this.#owner)) return;
      // The lease expires if this process does not run for a while, for example because its machine sleeps.
      this.#keep(group, held);
      this.#held.delete(group);
      return;
    }
    const since = clock();
    if (!(await leases.take(group, this.#owner))) return this.#kept.dropOld(group);
    this.#unwatched ??= this.#readUnwatched(since);
    const watch = { since, ...(await this.#unwatched) };
    const never = { readAt: Number.NEGATIVE_INFINITY, generation: -1, isTakenOver: false };
    const kept = this.#kept.take(group);
    const before = { devices: kept ?? new Map(), isResumed: kept !== undefined };
    this.#held.set(group, { ...before, watch, ...never });
  }

  /** This process watches from now on, so the list of unwatched periods stays complete while it holds the lease. */
  async #readUnwatched(now: number): Promise<Omit<Watch, 'since'>> {
    const from = now - UNWATCHED_MS;
    try {
      const { since, spans } = await this.#deps.unwatchedTime.read({ from, to: now });
      this.#isUnwatchedUnknown = false;
      return {
        unwatched: spans,
        recordedFrom: since === null ? Number.POSITIVE_INFINITY : Math.max(since, from),
      };
    } catch (error) {
      if (!this.#isUnwatchedUnknown) this.#warn(error);
      this.#isUnwatchedUnknown = true;
      throw error;
    }
  }

  #warn(error: unknown) {
    const code = error instanceof MillraceError ? error.code : 'internal';
    this.#deps.logger.warn(
      { code, reason: String(error) },
      'watched time cannot be read, and no alarm of absence opens until it can',
    );
  }

  async #look(group: number) {
    const held = this.#held.get(group);
    if (!held) return;
    const isOld = performance.now() - held.readAt >= this.#rereadMs;
    if (isOld || held.generation !== this.#generation) await this.#read(group, held);
    await this.#check(group);
  }

  async #takeOver(group: number) {
    const held = this.#held.get(group);
    if (!held || held.isTakenOver || this.#stopped) return;
    await this.#deps.takeOverOpenEpisodes(group);
    // Not set after a failure, so that the next round takes over again.
    held.isTakenOver = true;
  }

  async #read(group: number, held: HeldGroup) {
    const generation = this.#generation;
    const rules = this.#rulesOfAbsence();
    const { devices: before, isResumed } = held;
    held.devices =
      rules.length === 0 ? new Map() : await this.#readDevices({ group, rules, before, isResumed });
    held.isResumed = false;
    held.generation = generation;
    // Not set after a failure, so that the next round reads the group again.
    held.readAt = performance.now();
    held.isTakenOver = false;
  }

  #rulesOfAbsence() {
    return this.#deps.rules.list().filter((rule) => newestOf(rule).definition.condition.kind === 'absent');
  }

  async #check(group: number) {
    const held = this.#held.get(group);
    if (!held) return;
    const now = this.#deps.clock();
    const due = [...held.devices.values()].filter(({ dueAt }) => dueAt <= now);
    for (const device of due) {
      if (this.#stopped || !this.#deps.watches()) return;
      const asked = { watch: held.watch, now: this.#deps.clock() };
      const inMemory = this.#deps.peek(device.id)?.sensors;
      if (this.#judge(device, { ...asked, newest: inMemory, isCertain: false })) continue;
      const rows = await this.#deps.store.devices.sensors({ group, bytes: device.bytes });
      const newest = new Map(rows.map((row) => [row.id, row]));
      // The read may have waited for an unavailable database. Then new samples may still wait for the database too, and silence
      // is not certain.
      if (this.#deps.watches()) this.#judge(device, { ...asked, newest, isCertain: true });
    }
  }

  /** False: a sensor may be absent, and its newest sample has to be read from the database. */
  #judge(
    device: WatchedDevice,
    {
      watch,
      newest,
      now,
      isCertain,
    }: {
      watch: Watch;
      /** newest sample of each sensor, by sensor id, as far as known */
      newest: Map<string, { ts: number | null }> | undefined;
      now: number;
      /** whether `newest` was read from the database */
      isCertain: boolean;
    },
  ): boolean {
    let dueAt = Number.POSITIVE_INFINITY;
    for (const [id, sensor] of device.sensors) {
      sensor.ts = Math.max(sensor.ts, newest?.get(id)?.ts ?? Number.NEGATIVE_INFINITY);
      const next = sensor.judge(now, watch, isCertain, (rule, range) =>
        this.#deps.scheduler.evaluate(sensor.subject, rule, range),
      );
      if (next === null) return false;
      dueAt = Math.min(dueAt, next);
    }
    device.dueAt = dueAt;
    return true;
  }
}
