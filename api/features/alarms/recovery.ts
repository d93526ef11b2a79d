import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { DeviceBytes } from '../../../schema/ids.ts';
import { bucketOf, DAY_MS, dayOf, HOUR_MS, LATE_MARGIN_MS } from '../../../schema/rules.ts';
import type { Retry } from '../../store/sending/retry.ts';
import { type EvaluationScheduler, SETTLE_MS } from './evaluation/evaluation-scheduler.ts';
import type { Rule } from './rules/rule.ts';
import type { RuleRegistry } from './rules/rule-registry.ts';
import type { AlarmProgress, EvaluationProgress } from './store/progress.ts';
import type { Subjects } from './subjects.ts';

/** In ms without stored progress. */
const DEAD_AFTER_MS = 45_000;

/** In ms. `last_seen` of a device is written once a minute, and a clock may differ by two minutes. */
const SEEN_MARGIN_MS = 3 * 60_000;

const DEVICES_AT_ONCE = 8;

const MAX_QUEUED_EVALUATIONS = 5000;
const DRAIN_MS = 20;

/** Above this limit the notes of the hour are forgotten, and some are written again, which changes nothing. */
const MAX_REMEMBERED = 100_000;

/**
 * Every committed sample is evaluated, even if a process crashes. Each process stores the time up to which its committed samples are
 * evaluated. Another process then evaluates the samples of all devices since that time, and the days of late samples.
 */
export class Recovery {
  #deps;
  #run = randomUUID();
  #hour = 0;
  #noted: Set<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #stopped = false;
  #isFirst = true;

  constructor(deps: {
    store: AlarmProgress;
    retry: Retry;
    subjects: Subjects;
    rules: RuleRegistry;
    scheduler: EvaluationScheduler;
    clock: () => number;
    logger: Logger;
    /** name of this process, which a restart keeps */
    process: string;
    groups: number;
    everyMs: number;
  }) {
    this.#deps = deps;
  }

  /** Starts with the samples that the previous start of this process left. */
  start() {
    this.#later(0);
  }

  /** If all samples are evaluated and no run of breaching samples is unfinished, the next process has nothing left to evaluate. */
  async stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    const { store, process, scheduler, clock } = this.#deps;
    const { evaluatedUntil, unopenedRuns } = scheduler;
    const noticed = bucketOf(clock());
    try {
      // The next process may not see the begin of a run of breaching samples. So note the day in which the run started.
      await forEachConcurrently(DEVICES_AT_ONCE, unopenedRuns, ({ device, start }) =>
        store.noteDue(device, noticed, [dayOf(start)]),
      );
      if (unopenedRuns.length > 0) await store.write({ process, run: this.#run, evaluatedUntil });
      else if (scheduler.waiting === 0 && !scheduler.isOverflowed)
        await store.remove({ process, run: this.#run });
    } catch {
      // The row of the last round stays. The next process then evaluates more samples than necessary.
    }
  }

  /** Notes each day of late samples once an hour. Undefined: all days are noted already. `instants`: epoch ms. */
  note(
    device: { id: string; bytes: DeviceBytes; group: number },
    instants: Iterable<number>,
  ): Promise<void> | undefined {
    const noticed = bucketOf(this.#deps.clock());
    if (noticed !== this.#hour || this.#noted.size > MAX_REMEMBERED) {
      this.#hour = noticed;
      this.#noted = new Set();
    }
    const days = [...new Set([...instants].map(dayOf))].filter(
      (day) => !this.#noted.has(`${device.id} ${day}`),
    );
    if (days.length === 0) return undefined;
    return this.#deps.retry
      .run(() => this.#deps.store.noteDue(device, noticed, days))
      .then(() => {
        if (noticed === this.#hour) for (const day of days) this.#noted.add(`${device.id} ${day}`);
      });
  }

  /** `since`: commit time in epoch ms. `only`: default all rules. */
  async evaluateSince(since: number, only: Rule[] | null = null) {
    const { store, groups, clock } = this.#deps;
    const now = clock();
    const recent = { from: since - SETTLE_MS - LATE_MARGIN_MS, to: now };
    for (let group = 0; group < groups && !this.#stopped; group++) {
      const devices = await store.seenSince(group, since - SEEN_MARGIN_MS);
      await forEachConcurrently(DEVICES_AT_ONCE, devices, (device) =>
        this.#evaluateDevice(device, recent, only),
      );
      for (let hour = bucketOf(since - LATE_MARGIN_MS); hour <= now; hour += HOUR_MS) {
        const due = await store.due(group, hour);
        await forEachConcurrently(DEVICES_AT_ONCE, due, ({ device, day }) =>
          this.#evaluateDevice(device, { from: day, to: day + DAY_MS - 1 }, only),
        );
      }
    }
  }

  /** False: this process is stopping. */
  async waitForRoom(): Promise<boolean> {
    await this.#drain(() => this.#deps.scheduler.waiting > MAX_QUEUED_EVALUATIONS);
    return !this.#stopped;
  }

  /**
   * Waits for room before each evaluation. A device may have more sensors than the queue has room for, and a range that finds no room would
   * be lost.
   */
  async #evaluateDevice(device: DeviceBytes, range: { from: number; to: number }, only: Rule[] | null) {
    for (const subject of await this.#deps.subjects.ofDevice(device)) {
      for (const rule of this.#deps.rules.rulesOf(subject.device, subject.sensor)) {
        if (only && !only.includes(rule)) continue;
        if (!(await this.waitForRoom())) return;
        this.#deps.scheduler.evaluate(subject, rule, range);
      }
    }
  }

  async #drain(isBusy: () => boolean) {
    while (isBusy() && !this.#stopped) await sleep(DRAIN_MS, undefined, { ref: false });
  }

  #later(pauseMs: number) {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#once().then(() => this.#later(this.#deps.everyMs));
    }, pauseMs).unref();
  }

  async #once() {
    const { store, rules, scheduler, process, clock, logger } = this.#deps;
    try {
      await this.#evaluateOverflow();
      if (!rules.isEmpty)
        await store.write({ process, run: this.#run, evaluatedUntil: scheduler.evaluatedUntil });
      const now = clock();
      const left = (await store.all()).filter((progress) => this.#isLeft(progress, now));
      for (const progress of left) {
        logger.info({ process: progress.process }, 'evaluating what a process committed before it ended');
        await this.evaluateSince(progress.evaluatedUntil);
        await this.#drain(() => scheduler.waiting > 0 && scheduler.evaluatedUntil <= now);
        if (!this.#stopped) await store.remove(progress);
      }
      this.#isFirst = false;
    } catch (error) {
      logger.debug({ reason: String(error) }, 'the progress of evaluation could not be read or written');
    }
  }

  /** Samples that were not queued count as not evaluated until all of them are queued. */
  async #evaluateOverflow() {
    const { scheduler } = this.#deps;
    const since = scheduler.takeOverflow();
    if (since === null) return;
    let isDone = false;
    try {
      await this.evaluateSince(since);
      isDone = !this.#stopped;
    } finally {
      if (!isDone) scheduler.overflow(since);
    }
  }

  /** True: a process ended without evaluating all of its samples. */
  #isLeft({ process, run, evaluatedUntil }: EvaluationProgress, now: number) {
    if (run === this.#run) return false;
    // A process name has one running process at a time. So an entry of an earlier start of this process is left over.
    const isBefore = this.#isFirst && process === this.#deps.process;
    return isBefore || now - evaluatedUntil > DEAD_AFTER_MS;
  }
}
