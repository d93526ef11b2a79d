import type { Logger } from 'pino';
import type { SensorBytes } from '../../../../schema/ids.ts';
import type { Numbers } from '../../../../schema/packed/series.ts';
import { newestOf, type Rule } from '../rules/rule.ts';
import type { RuleRegistry } from '../rules/rule-registry.ts';
import type { EpisodeKey } from '../store/episodes.ts';
import { type Threshold, thresholdOf } from './condition.ts';
import type { AlarmChange, Evaluated, Evaluator, MonitoredSensor } from './evaluator.ts';
import { RecheckQueue } from './recheck-queue.ts';

const AT_ONCE = 16;

/** In ms. A rate needs the samples of all processes, so a task with a rate waits ten times as long. */
const SPACING_MS = 100;
const RATE_FACTOR = 10;

const RETRY_MS = 1000;

/** Above this limit new samples are not queued. The process later evaluates all samples that it has committed since then. */
const MAX_QUEUED_TASKS = 50_000;

/**
 * Time in ms after its last change for which a task is evaluated repeatedly. A process whose clock is behind may still commit a sample of
 * that time.
 */
export const SETTLE_MS = 15 * 60_000;

const RECHECK_MS = { first: 1000, longest: 60_000 };

/**
 * Range in ms of a repeated evaluation. Once a minute it is `SETTLE_MS`, so that alarms that change all the time do not read minutes of
 * samples every second.
 */
const SHORT_RANGE_MS = 60_000;

interface Due {
  from: number;
  to: number;
  committedAt: number;
  /** a silence that had lasted long enough at this time is an absence; -Infinity: none is */
  silentAt: number;
}

/** A rule for a sensor that waits for its evaluation, or is evaluated repeatedly until its episodes are settled. */
interface EvaluationTask {
  key: string;
  subject: MonitoredSensor;
  rule: Rule;
  due: Due | null;
  current: Due | null;
  /** earliest evaluation, by `performance.now()` */
  notBefore: number;
  run: { start: number; samples: number; opened: number | null } | null;
  /** number of samples of the run since the last evaluation */
  seen: number;
  /** epoch ms of the newest sample that this process received */
  newest: number;
  /** from then on the task is not evaluated repeatedly */
  settledAt: number;
  recheckMs: number;
  recheckAt: number;
  /** first sample that a repeated evaluation reads */
  watchedFrom: number;
  /** when the last repeated evaluation with the long range was queued */
  longRangeAt: number;
}

/**
 * A sample that changes nothing costs one comparison: a value that clears while no episode is open, or breaches while one is open. All
 * other samples are evaluated from the database, after their commit. No acknowledgement waits for an evaluation. A task with an open
 * episode is evaluated again from time to time, because another process may have committed the end of the episode.
 */
export class EvaluationScheduler {
  #evaluator;
  #rules;
  #clock;
  #logger;
  #onChange;
  #onEvaluated;
  #spacingMs;
  #recheckMs;
  #tasks: Map<string, EvaluationTask> = new Map();
  #watched: Map<string, number> = new Map();
  #waiting: Set<EvaluationTask> = new Set();
  #running: Set<EvaluationTask> = new Set();
  #rechecks: RecheckQueue<EvaluationTask> = new RecheckQueue({
    run: (task, running) => this.#run(task, running),
    onBatchEnd: () => this.#next(),
  });
  /** Oldest commit time of samples that were not queued because too many tasks waited. */
  #overflowedAt = Number.POSITIVE_INFINITY;
  #thresholds: WeakMap<Rule, Threshold | null> = new WeakMap();
  #timer: NodeJS.Timeout | undefined;
  #recheckTimer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: {
    evaluator: Pick<Evaluator, 'evaluate'>;
    rules: Pick<RuleRegistry, 'find'>;
    clock: () => number;
    logger: Logger;
    onChange: (change: AlarmChange) => void;
    onEvaluated: (ok: boolean, waitedMs: number) => void;
    spacingMs?: number;
    recheckMs?: number;
  }) {
    const { spacingMs = SPACING_MS, recheckMs = RECHECK_MS.first } = deps;
    this.#evaluator = deps.evaluator;
    this.#rules = deps.rules;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
    this.#onChange = deps.onChange;
    this.#onEvaluated = deps.onEvaluated;
    this.#spacingMs = spacingMs;
    this.#recheckMs = recheckMs;
    this.#recheckTimer = setInterval(() => this.#recheck(), recheckMs).unref();
  }

  get waiting() {
    return this.#waiting.size + this.#running.size + this.#rechecks.size;
  }

  get size() {
    return this.#tasks.size;
  }

  /** No other process knows the runs that have not opened an alarm yet. */
  get unopenedRuns() {
    return [...this.#tasks.values()].flatMap(({ subject, run }) =>
      run && run.opened === null ? [{ device: subject.device, start: run.start }] : [],
    );
  }

  /** All samples that this process committed before this epoch ms are evaluated. */
  get evaluatedUntil(): number {
    let until = Math.min(this.#overflowedAt, this.#clock());
    for (const { due, current } of [...this.#waiting, ...this.#running, ...this.#rechecks.running])
      until = Math.min(until, due?.committedAt ?? until, current?.committedAt ?? until);
    return until;
  }

  /** The commit time, in epoch ms, from which samples were not queued. Null: all were queued, or too many tasks still wait. */
  takeOverflow(): number | null {
    if (!this.isOverflowed || this.#waiting.size > MAX_QUEUED_TASKS / 2) return null;
    const since = this.#overflowedAt;
    this.#overflowedAt = Number.POSITIVE_INFINITY;
    return since;
  }

  /** Samples with this commit time (epoch ms) or a later one were not queued. */
  overflow(since: number) {
    this.#overflowedAt = Math.min(this.#overflowedAt, since);
  }

  /** True until `takeOverflow` returns a commit time. */
  get isOverflowed() {
    return Number.isFinite(this.#overflowedAt);
  }

  takeSamples(
    device: MonitoredSensor['device'],
    sensor: MonitoredSensor['sensor'],
    rule: Rule,
    { times, values }: { times: Numbers; values: Numbers },
  ) {
    // Making a key takes longer than everything else here, and most sensors have no task.
    const task = this.#watched.has(sensor.id) ? this.#tasks.get(keyOf(sensor.bytes, rule.bytes)) : undefined;
    const threshold = this.#thresholdOf(rule);
    if (threshold === null) {
      // A sample can only end an absence. `AbsenceWatch` finds the silence itself by the clock.
      if (!task?.run) return;
    } else if (!threshold.isRate && !isInteresting(threshold, task, times, values)) return;
    const from = Number(times[0]);
    const to = Number(times[times.length - 1]);
    if (task) task.newest = Math.max(task.newest, to);
    this.evaluate({ device, sensor }, rule, { from, to });
  }

  /** False: too many tasks wait already, or this process ends. `silentAt`: see `Due`. */
  evaluate(
    subject: MonitoredSensor,
    rule: Rule,
    { from, to, silentAt = Number.NEGATIVE_INFINITY }: { from: number; to: number; silentAt?: number },
  ): boolean {
    if (this.#stopped) return false;
    const key = keyOf(subject.sensor.bytes, rule.bytes);
    let task = this.#tasks.get(key);
    if (!task) {
      if (this.#waiting.size >= MAX_QUEUED_TASKS) {
        this.overflow(this.#clock());
        return false;
      }
      task = newTask(key, subject, rule, this.#recheckMs);
      this.#tasks.set(key, task);
      const { id } = subject.sensor;
      this.#watched.set(id, (this.#watched.get(id) ?? 0) + 1);
    }
    task.subject = subject;
    // The caller may have read the rule before the rule changed.
    task.rule = this.#newest(rule);
    if (task.due) this.#rechecks.remove(task);
    task.due = merged(task.due, { from, to, committedAt: this.#clock(), silentAt });
    if (!task.current) this.#waiting.add(task);
    this.#next();
    return true;
  }

  watches({ sensor, rule, start }: EpisodeKey) {
    return this.#tasks.get(keyOf(sensor, rule))?.run?.start === start;
  }

  renewRules() {
    for (const task of this.#tasks.values()) task.rule = this.#newest(task.rule);
  }

  async stop(withinMs: number) {
    this.#stopped = true;
    clearInterval(this.#recheckTimer);
    this.#rechecks.clear();
    const end = performance.now() + withinMs;
    while (this.waiting > 0 && performance.now() < end) {
      this.#next();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    clearTimeout(this.#timer);
  }

  #next() {
    const now = performance.now();
    let soonest = Number.POSITIVE_INFINITY;
    for (const task of this.#waiting) {
      if (this.#running.size >= AT_ONCE) return;
      if (task.notBefore > now) {
        soonest = Math.min(soonest, task.notBefore);
        continue;
      }
      this.#waiting.delete(task);
      void this.#run(task, this.#running);
    }
    this.#rechecks.next();
    clearTimeout(this.#timer);
    if (Number.isFinite(soonest)) this.#timer = setTimeout(() => this.#next(), soonest - now + 1).unref();
  }

  /** `running` holds the task while it is evaluated. */
  async #run(task: EvaluationTask, running: Set<EvaluationTask>) {
    running.add(task);
    const current = task.due as Due;
    task.due = null;
    task.current = current;
    task.seen = 0;
    let pause = RETRY_MS;
    let ok = false;
    try {
      const evaluated = await this.#evaluator.evaluate(task.subject, task.rule, current);
      this.#note(task, evaluated, current.from);
      for (const change of evaluated.changes) this.#onChange(change);
      pause = this.#spacingMs * (this.#thresholdOf(task.rule)?.isRate ? RATE_FACTOR : 1);
      ok = true;
    } catch (error) {
      this.#logger.debug(
        { reason: String(error) },
        'an alarm rule could not be evaluated, and is tried again',
      );
      task.due = merged(task.due, current);
    }
    this.#onEvaluated(ok, this.#clock() - current.committedAt);
    task.current = null;
    task.notBefore = performance.now() + pause;
    running.delete(task);
    if (task.due) this.#waiting.add(task);
    else if (isSettled(task, this.#clock())) this.#forget(task);
    this.#next();
  }

  #note(task: EvaluationTask, { changes, run, episodes }: Evaluated, from: number) {
    const now = this.#clock();
    const isNew = run?.start !== task.run?.start || run?.opened !== task.run?.opened;
    task.run = run;
    task.watchedFrom = Math.min(task.watchedFrom, from);
    if (episodes > 0)
      task.settledAt = Math.max(task.settledAt, now + (isNew || changes.length > 0 ? SETTLE_MS : 0));
    const isQuiet = changes.length === 0 && !isNew;
    task.recheckMs = isQuiet ? Math.min(2 * task.recheckMs, RECHECK_MS.longest) : this.#recheckMs;
    task.recheckAt = now + task.recheckMs;
  }

  #forget(task: EvaluationTask) {
    const { id } = task.subject.sensor;
    const others = (this.#watched.get(id) ?? 1) - 1;
    this.#tasks.delete(task.key);
    if (others === 0) this.#watched.delete(id);
    else this.#watched.set(id, others);
  }

  /** Another process may have committed a sample that changes the episodes. */
  #recheck() {
    const now = this.#clock();
    for (const task of this.#tasks.values()) {
      if (task.due || task.current || now < task.recheckAt) continue;
      if (isSettled(task, now)) {
        this.#forget(task);
        continue;
      }
      const isLong = now - task.longRangeAt >= RECHECK_MS.longest;
      if (isLong) task.longRangeAt = now;
      const from = Math.max(task.watchedFrom, now - (isLong ? SETTLE_MS : SHORT_RANGE_MS));
      task.due = { from, to: now, committedAt: now, silentAt: Number.NEGATIVE_INFINITY };
      this.#rechecks.add(task);
    }
    this.#next();
  }

  #newest(rule: Rule): Rule {
    return this.#rules.find(rule.id) ?? rule;
  }

  #thresholdOf(rule: Rule) {
    const known = this.#thresholds.get(rule);
    if (known !== undefined) return known;
    const { condition } = newestOf(rule).definition;
    const threshold = condition.kind === 'absent' ? null : thresholdOf(condition);
    this.#thresholds.set(rule, threshold);
    return threshold;
  }
}

const keyOf = (sensor: SensorBytes, rule: Buffer): string =>
  sensor.toString('latin1') + rule.toString('latin1');

const newTask = (key: string, subject: MonitoredSensor, rule: Rule, recheckMs: number): EvaluationTask => ({
  key,
  subject,
  rule,
  due: null,
  current: null,
  notBefore: 0,
  run: null,
  seen: 0,
  newest: Number.NEGATIVE_INFINITY,
  settledAt: 0,
  recheckMs,
  recheckAt: 0,
  watchedFrom: Number.POSITIVE_INFINITY,
  longRangeAt: Number.NEGATIVE_INFINITY,
});

const merged = (a: Due | null, b: Due): Due =>
  a
    ? {
        from: Math.min(a.from, b.from),
        to: Math.max(a.to, b.to),
        committedAt: Math.min(a.committedAt, b.committedAt),
        silentAt: Math.max(a.silentAt, b.silentAt),
      }
    : b;

const isSettled = (task: EvaluationTask, now: number) => task.run === null && now >= task.settledAt;

/** `task` is undefined while no episode is open, and none has ended lately. */
function isInteresting(
  { breaches, clears, forMs, forSamples }: Threshold,
  task: EvaluationTask | undefined,
  times: Numbers,
  values: Numbers,
) {
  const run = task?.run;
  // A sample older than the newest known one may move the start or the end of a known episode.
  if (task && Number(times[0]) <= task.newest) return true;
  if (task) task.newest = Number(times[times.length - 1]);
  if (!run) return task?.due || task?.current ? true : values.some(breaches);
  if (Number(times[0]) <= run.start || values.some((value) => clears(value) && !breaches(value))) return true;
  if (run.opened !== null || !task) return false;
  task.seen += values.length;
  return Number(times[times.length - 1]) - run.start >= forMs && run.samples + task.seen >= forSamples;
}
