import { forEachConcurrently } from '../../../common/concurrency.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Context } from '../../observability/index.ts';
import type { Store } from '../../store/index.ts';
import { BaselineTable } from './table.ts';

export { createLearning } from './learner.ts';

/**
 * A baseline is the usual value of a sensor and its deviation, for each hour. `learner.ts` learns baselines from history,
 * day by day, and stores them. `Baselines` loads the stored days into memory and judges values by them. So all processes
 * give the same answer, independent of the values that each process receives. Until a day of history is learned, no value
 * of a sensor is judged: a judgment by the first hours is wrong too often.
 */

/**
 * The baselines of a day are in memory from this time before its start until this time after its end, in ms. So values
 * that are a little early or late can be judged.
 */
const MARGIN_MS = HOUR_MS;

/** Number of groups of devices whose progress is read at once. */
const GROUPS_AT_ONCE = 8;

/** A value and the time of its measurement. `ts`: ISO 8601 */
type Measured = { ts: string | null; value: number | null };

/**
 * A value and its judgment. The judgment is written into the object of the value instead of a new object, because values are judged
 * as fast as they arrive.
 * `sigmas`: deviations above (negative: below) the mean; undefined: there is no value, it is too old, or no baseline is known
 */
type JudgedValue = Measured & { sigmas: number | undefined };

/** The usual value of a sensor and its deviation, in its unit. */
export type Baseline = { mean: number; deviation: number };

/** Called when values may be judged differently than before. */
type OnChange = () => void;

/** Judges values by the baselines of the present days. It regularly reads newly learned baselines from the database. */
export class Baselines {
  #store;
  #groups;
  #clock;
  #logger;
  #everyMs;
  /** Baselines by day, in epoch ms; `loaded`: groups that were read. */
  #days: Map<number, { table: BaselineTable; loaded: Set<number> }> = new Map();
  #changed = false;
  #listeners: Set<OnChange> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    context: Pick<Context, 'config' | 'clock' | 'logger' | 'metrics'>,
    {
      store,
      everyMs,
    }: {
      store: Pick<Store, 'baselines'>;
      /** time between two checks for newly learned groups */
      everyMs: number;
    },
  ) {
    const { config, clock, logger, metrics } = context;
    this.#store = store.baselines;
    this.#groups = config.retention.latestGroups;
    this.#clock = clock;
    this.#logger = logger;
    this.#everyMs = everyMs;
    metrics.gauge(
      'iot_baseline_sensors',
      'Sensors with a baseline of the present day in the memory of this process',
      () => this.#days.get(dayOf(this.#clock()))?.table.size ?? 0,
    );
  }

  /**
   * Starts to read learned baselines regularly. `start` does not wait for the first read, and until this read has ended
   * no value is judged.
   */
  start() {
    void this.#lookLater();
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /**
   * Judges a value by the learned baseline of the hour in which it was measured.
   * @param key `device id/sensor id`
   * @param measured the value, into which the judgment is written
   */
  judge(key: string, measured: JudgedValue) {
    const { ts, value } = measured;
    measured.sigmas = undefined;
    if (ts === null || value === null) return;
    const at = Date.parse(ts);
    measured.sigmas = this.#days.get(dayOf(at))?.table.sigmas(key, hourOf(at), value) ?? undefined;
  }

  /** @param ts ISO 8601 @returns the baseline for this time; null: no baseline is known */
  at(key: string, ts: string | null): Baseline | null {
    if (ts === null) return null;
    const at = Date.parse(ts);
    return this.#days.get(dayOf(at))?.table.at(key, hourOf(at)) ?? null;
  }

  /** @returns baselines of all known hours, oldest first; `ts` in epoch ms */
  hours(key: string): Array<Baseline & { ts: number }> {
    const hours = [];
    for (const [day, { table }] of [...this.#days].sort(([a], [b]) => a - b)) {
      for (let hour = 0; hour < 24; hour++) {
        const baseline = table.at(key, hour);
        if (baseline) hours.push({ ts: day + hour * HOUR_MS, ...baseline });
      }
    }
    return hours;
  }

  /** @returns function that removes the listener */
  onChange(listener: OnChange): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Reads the baselines that were learned since the last call, and removes days that are over from memory.
   * @throws {MillraceError} `unavailable`
   */
  async refresh() {
    const now = this.#clock();
    const wanted = new Set([dayOf(now - MARGIN_MS), dayOf(now + MARGIN_MS)]);
    for (const day of this.#days.keys()) {
      if (wanted.has(day)) continue;
      this.#days.delete(day);
      this.#changed = true;
    }
    try {
      for (const day of wanted) await this.#loadDay(day);
    } finally {
      // Listeners are called after a failure, too, because some groups may have been read before the failure.
      const isChanged = this.#changed;
      this.#changed = false;
      if (isChanged) this.#notify();
    }
  }

  #notify() {
    for (const listener of this.#listeners) listener();
  }

  /** @param day epoch ms */
  async #loadDay(day: number) {
    const { table, loaded } = this.#days.get(day) ?? { table: new BaselineTable(), loaded: new Set() };
    this.#days.set(day, { table, loaded });
    const groups = Array.from({ length: this.#groups }, (_, group) => group);
    const missing = groups.filter((group) => !loaded.has(group));
    await forEachConcurrently(GROUPS_AT_ONCE, missing, async (group) => {
      const until = await this.#store.learnedUntil(group);
      if (until === null || until < day + DAY_MS) return;
      for await (const rows of this.#store.pages(group, day)) {
        if (this.#stopped) return;
        for (const { key, profile } of rows) table.set(key, profile);
        this.#changed = true;
      }
      loaded.add(group);
    });
  }

  async #lookLater() {
    try {
      await this.refresh();
    } catch (error) {
      this.#logger.debug({ reason: String(error) }, 'baselines could not be read, and are read later');
    }
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#lookLater(), this.#everyMs).unref();
  }
}

/** @param ts epoch ms @returns hour of the UTC day, from 0 to 23 */
const hourOf = (ts: number): number => Math.floor(ts / HOUR_MS) % 24;
