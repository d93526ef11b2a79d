import { silenceOf, unsentAbsence } from './evaluation/condition.ts';
import type { MonitoredSensor } from './evaluation/evaluator.ts';
import { newestOf, type Rule } from './rules/rule.ts';

/**
 * Limit in ms of the wait after a watch begins, or while queued samples arrive. In this wait a silence has to last for its full time again.
 */
export const GRACE_MS = 5 * 60_000;

/**
 * Total delay in ms of an absence by new watches. Otherwise a process that restarts every four minutes would find no absence of more than
 * four minutes.
 */
const MAX_DELAY_MS = 3 * GRACE_MS;

/** In ms. A silent sensor is judged again after this pause, or after the silence of the rule if that is longer. */
const REJUDGED_AFTER_MS = 5000;

/** In other times no process could receive samples: they may still wait in their devices, or in the broker. */
export interface Watch {
  /** this process has watched without a break since then */
  since: number;
  /** epoch ms of periods in which no process watched, oldest first */
  unwatched: Array<{ from: number; to: number }>;
  /** `unwatched` is complete from then on; infinite: no such time is known */
  recordedFrom: number;
}

/** `silentAt` permits the evaluation to open an absence that has lasted until then. False: the evaluation has to be repeated. */
export type Evaluate = (rule: Rule, range: { from: number; to: number; silentAt?: number }) => boolean;

/**
 * A sensor that absence rules cover, and what this process knows about its silence.
 *
 *     samples ──●──●─────────────────────────────────
 *     watched ███████████          ██████████████████
 *                     silence ends ┘ counts on   └ an absence is due
 *
 * An absence is due when the whole silence was watched, and the present watch has lasted for the length of the silence or five
 * minutes. If old samples arrive meanwhile, the device is sending its queue, and the five minutes begin again. A new watch, such
 * as after a restart, delays an absence by 15 minutes of watched time at most.
 */
export class WatchedSensor {
  /** time of the newest known sample; -Infinity: the sensor has sent nothing yet. */
  ts;
  #subject;
  #rules;
  /** Newest sample at the previous judgment, in epoch ms. */
  #seen: number;
  #queuedAt = Number.NEGATIVE_INFINITY;
  /** Newest sample for which all rules have evaluated the silence; NaN: no sample. */
  #found = Number.NaN;
  /** Lasted long enough for a rule, but was not due yet. It may have ended since. */
  #missed: { from: number; dueAt: number } | null = null;
  /** The newest sample before the unwatched time; null: that time is judged already. */
  #lastBefore: number | null = null;

  /** `ts`: newest sample, in epoch ms; null: none. `isResumed`: this process did not watch after it read `before`. */
  constructor(
    subject: MonitoredSensor,
    rules: Rule[],
    ts: number | null,
    before?: WatchedSensor,
    isResumed: boolean = false,
  ) {
    this.#subject = subject;
    this.#rules = rules;
    this.ts = ts ?? Number.NEGATIVE_INFINITY;
    this.#seen = this.ts;
    if (!before) return;
    this.#seen = before.#seen;
    this.#queuedAt = before.#queuedAt;
    this.#missed = before.#missed;
    if (before.#hasSent)
      this.#lastBefore = before.#lastBefore ?? (isResumed ? (before.#missed?.from ?? before.ts) : null);
    const known = before.#subject.sensor;
    const isSame =
      known.intervalMs === subject.sensor.intervalMs && known.registeredAt === subject.sensor.registeredAt;
    if (isSame && rules.every((rule) => before.#rules.includes(rule))) this.#found = before.#found;
  }

  get subject() {
    return this.#subject;
  }

  get #hasSent() {
    return this.ts !== Number.NEGATIVE_INFINITY;
  }

  /**
   * Returns the epoch ms of the next judgment; null: the sensor may be absent, and its newest sample has to be read from the database.
   * `now` must be taken before that read. `isCertain`: the newest sample was read from the database.
   */
  judge(now: number, watch: Watch, isCertain: boolean, evaluate: Evaluate): number | null {
    const isNew = this.ts > this.#seen;
    this.#seen = this.ts;
    if (this.#lastBefore !== null) this.#resume(this.#lastBefore, watch.since);
    let next = Number.POSITIVE_INFINITY;
    let isFound = true;
    // The group is read again each minute, so no read follows a sensor that has sent nothing.
    const isWaiting = !this.#hasSent && this.#found === this.ts;
    for (const rule of this.#rules) {
      const silence = this.#silenceOf(rule);
      if (silence === null) continue;
      const { since } = newestOf(rule);
      const { start, opened } = this.#hasSent
        ? { start: this.ts, opened: this.ts + silence }
        : unsentAbsence(this.#subject.sensor.registeredAt, since, silence);
      const isOver = opened <= now;
      if (isOver && isNew) this.#queuedAt = now;
      // No evaluation opens an absence before its version of the rule applies. The clock of the process that added it may be ahead.
      const dueAt = Math.max(since, isOver ? this.#dueAt(start, opened, watch) : opened);
      if (dueAt > now) {
        isFound = false;
        next = Math.min(next, dueAt);
        if (isOver && this.#hasSent) this.#miss(dueAt);
        continue;
      }
      if (!isCertain && !isWaiting) return null;
      const range = { from: start, to: start, silentAt: now };
      const isTaken = this.#found === this.ts || evaluate(rule, range);
      if (!isTaken) isFound = false;
      next = Math.min(next, now + (isTaken ? Math.max(silence, REJUDGED_AFTER_MS) : REJUDGED_AFTER_MS));
    }
    // Keep `#lastBefore` until here: the database may have a newer sample that ended a silence.
    this.#lastBefore = null;
    if (isCertain) this.#found = isFound ? this.ts : Number.NaN;
    return Math.min(next, this.#judgeMissed(now, evaluate));
  }

  /** In ms; null: the rule finds no absence of this sensor. */
  #silenceOf(rule: Rule): number | null {
    const { condition } = newestOf(rule).definition;
    return condition.kind === 'absent' ? silenceOf(condition, this.#subject.sensor.intervalMs) : null;
  }

  /** Epoch ms at which an absence is due, with unwatched time left out. `start`: begin of the silence. `opened`: when it was too long. */
  #dueAt(start: number, opened: number, { since, unwatched, recordedFrom }: Watch): number {
    let dueAt = opened;
    for (const { from, to } of unwatched) if (to > start && from < dueAt) dueAt += to - Math.max(from, start);
    const grace = Math.min(opened - start, GRACE_MS);
    const latest = dueAt + Math.max(0, recordedFrom - start) + MAX_DELAY_MS;
    return Math.max(dueAt, Math.min(since + grace, latest), this.#queuedAt + grace);
  }

  /**
   * A silence may have begun and ended in the time without a watch. It is judged after the device had time to send its queued samples.
   * `from`: newest sample before that time; `since`: begin of the new watch, both in epoch ms.
   */
  #resume(from: number, since: number) {
    const ended = this.#rules
      .map((rule) => this.#silenceOf(rule) ?? Number.POSITIVE_INFINITY)
      .filter((silence) => from + silence <= this.ts);
    const grace = Math.min(Math.max(...ended), GRACE_MS);
    this.#missed = ended.length === 0 ? null : { from, dueAt: since + grace };
  }

  #miss(dueAt: number) {
    const { from, dueAt: before } = this.#missed ?? { from: this.ts, dueAt };
    this.#missed = { from, dueAt: Math.max(before, dueAt) };
  }

  /**
   * A silence that ended before it was due lies between two samples. No later sample starts its evaluation, because no absence is open.
   * Returns when it has to be judged, in epoch ms; infinite: none waits for judgment.
   */
  #judgeMissed(now: number, evaluate: Evaluate): number {
    if (!this.#missed) return Number.POSITIVE_INFINITY;
    const { from, dueAt } = this.#missed;
    if (dueAt > now) return dueAt;
    const range = { from, to: this.ts };
    const isTaken = this.ts === from || this.#rules.every((rule) => evaluate(rule, range));
    if (!isTaken) return now + REJUDGED_AFTER_MS;
    this.#missed = null;
    return Number.POSITIVE_INFINITY;
  }
}
