import { forEachConcurrently } from '../../../common/concurrency.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Context } from '../../observability/index.ts';
import type { BaselineStore } from './store.ts';
import { BaselineTable } from './table.ts';

/**
 * A baseline is the usual value of a sensor and its deviation, for each hour. `learner.ts` learns baselines from history,
 * day by day, and stores them. `Baselines` loads the stored days into memory and judges values by them. So all processes
 * give the same answer, independent of the values that each process receives. Until a day of history is learned, no value
 * of a sensor is judged: a judgment by the first hours is wrong too often.
 */

/** In ms, before the start and after the end of a day. So values that are a little early or late can be judged. */
const MARGIN_MS = HOUR_MS;

const GROUPS_AT_ONCE = 8;

/** `ts`: ISO 8601 */
type Measured = { ts: string | null; value: number | null };

/**
 * The judgment is written into the object of the value instead of a new object, because values are judged as fast as they arrive. `sigmas`:
 * deviations above (negative: below) the mean; undefined: there is no value, it is too old, or no baseline is known
 */
type JudgedValue = Measured & { sigmas: number | undefined };

export type Baseline = { mean: number; deviation: number };

/** Values may be judged differently than before. */
type OnChange = () => void;

/** Judges values by the baselines of the present days, and regularly reads newly learned baselines. */
export class Baselines {
  #store;
  #groups;
  #clock;
  #logger;
  #everyMs;
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
      store: BaselineStore;
      everyMs: number;
    },
  ) {
    const { config, clock, logger, metrics } = context;
    this.#store = store;
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

  /** Does not wait for the first read. Until this read has ended no value is judged. */
  start() {
    void this.#lookLater();
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Judges by the baseline of the hour of the measurement, and writes into `measured`. @param key `device id/sensor id` */
  judge(key: string, measured: JudgedValue) {
    const { ts, value } = measured;
    measured.sigmas = undefined;
    if (ts === null || value === null) return;
    const at = Date.parse(ts);
    measured.sigmas = this.#days.get(dayOf(at))?.table.sigmas(key, hourOf(at), value) ?? undefined;
  }

  /** @param ts ISO 8601 @returns null: no baseline is known */
  at(key: string, ts: string | null): Baseline | null {
    if (ts === null) return null;
    const at = Date.parse(ts);
    return this.#days.get(dayOf(at))?.table.at(key, hourOf(at)) ?? null;
  }

  /** All known hours, oldest first; `ts` in epoch ms. */
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

  onChange(listener: OnChange): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Also removes days that are over from memory. @throws `unavailable` */
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

const hourOf = (ts: number): number => Math.floor(ts / HOUR_MS) % 24;
