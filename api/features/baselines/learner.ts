import { randomUUID } from 'node:crypto';
import type { DeviceBytes } from '../../../schema/ids.ts';
import { bucketOf, DAY_MS, dayOf, HOUR_MS, yearOf } from '../../../schema/rules.ts';
import { createLeases, iteratePages, type Leases, Rounds, Steps } from '../../background/index.ts';
import type { Context } from '../../observability/index.ts';
import type { ClockGuard } from '../../store/clock-guard.ts';
import type { SensorKey } from '../../store/history/keys.ts';
import type { HourRow } from '../../store/history/reads.ts';
import { Retry, type Store } from '../../store/index.ts';
import { LEARNED_DAYS, learnProfile } from './profile.ts';
import type { BaselineStore, LearnedProfile } from './store.ts';

/** In ms of a UTC day, whose next day is then learned. By this time all hours of the previous day are packed. */
const LEARN_FROM_MS = 6 * HOUR_MS;

/** In ms. The database may not answer the last request of an ending process. */
const STOP_WITHIN_MS = 3000;

/**
 * Learns the baselines of each day from the statistics of history, a day ahead, one group of devices after the other.
 * After an interruption the group is learned again from its beginning. While the clock is wrong, the learner waits.
 * With a clock that is ahead it would mark future days as learned, and `learned_until` never goes back.
 */
export function createLearner({
  store,
  groups,
  clock,
  steps,
  leases,
  lag,
  onLearned,
}: {
  store: Pick<Store, 'packing'> & { baselines: BaselineStore };
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
  steps: Pick<Steps, 'run' | 'stopped'>;
  leases: Leases;
  lag: LearningLag;
  onLearned: () => void;
}) {
  const { packing, baselines } = store;

  async function nextDay(group: number): Promise<number> {
    const until = await steps.run(() => baselines.learnedUntil(group));
    // Days that are over are skipped, even if they were never learned.
    const next = Math.max(until ?? 0, dayOf(await clock.now()));
    lag.note(group, next);
    return next;
  }

  async function readHours(key: SensorKey, from: number, to: number): Promise<HourRow[]> {
    const rows: HourRow[] = [];
    for (let start = from; start < to; ) {
      const begin = start;
      const end = Math.min(to, Date.UTC(yearOf(begin) + 1, 0));
      rows.push(...(await steps.run(() => packing.readStatistics(key, begin, end))));
      start = end;
    }
    return rows;
  }

  async function learnDevice(group: number, device: DeviceBytes, day: number) {
    const to = Math.min(day, bucketOf(await clock.now()));
    const learned: LearnedProfile[] = [];
    for (const sensor of await steps.run(() => packing.sensorIds(group, device))) {
      const rows = await readHours({ device, sensor }, to - LEARNED_DAYS * DAY_MS, to);
      const profile = learnProfile(rows, day);
      if (!profile) continue;
      learned.push({ device, sensor, profile });
      onLearned();
    }
    if (learned.length > 0) await steps.run(() => baselines.write(group, day, learned));
  }

  async function learnGroup(group: number) {
    // Progress is read again, because the previous owner of the lease may have learned the day.
    const day = await nextDay(group);
    if ((await clock.now()) < dueAt(day)) return;
    for await (const device of iteratePages((after) => steps.run(() => packing.devicePage(group, after)))) {
      await learnDevice(group, device, day);
    }
    await steps.run(() => baselines.writeLearned(group, day + DAY_MS));
    lag.note(group, day + DAY_MS);
  }

  return {
    /** Leaves out groups of other processes. @throws the error of the first group that failed, after the other groups were learned */
    async learnDue(): Promise<void> {
      const failures: unknown[] = [];
      for (let group = 0; group < groups && !steps.stopped; group++) {
        try {
          if (!lag.isDue(group)) continue;
          const day = await nextDay(group);
          if ((await clock.now()) < dueAt(day)) continue;
          // Learning has leases of its own, because packing uses the numbers below `groups`. So a group may be packed
          // and learned at the same time.
          await leases.hold(groups + group, () => learnGroup(group));
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

const dueAt = (day: number): number => day - DAY_MS + LEARN_FROM_MS;

/** By the progress of each group that was last read. */
export class LearningLag {
  #clock;
  /** by group: the day that has to be learned next, in epoch ms */
  #next: Map<number, number> = new Map();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  note(group: number, next: number) {
    this.#next.set(group, next);
  }

  /** @returns false: the progress of the group need not be read */
  isDue(group: number): boolean {
    return this.#clock() >= dueAt(this.#next.get(group) ?? 0);
  }

  /** In ms since the group that is farthest behind became due; 0 before any progress was read. */
  overdueMs(): number {
    return this.#next.size === 0 ? 0 : Math.max(0, this.#clock() - dueAt(Math.min(...this.#next.values())));
  }

  groups(): { learned: number; missing: number } {
    const today = dayOf(this.#clock());
    const learned = [...this.#next.values()].filter((next) => next > today).length;
    return { learned, missing: this.#next.size - learned };
  }
}

/** One request at a time with rests: learning uses a connection for a tenth of the time, and when behind for at most half. */
export function createLearning(
  { config, clock, logger, metrics }: Context,
  {
    store,
    clockGuard,
    pauseMs,
  }: {
    store: Pick<Store, 'packing' | 'packLeases'> & { baselines: BaselineStore };
    clockGuard: ClockGuard;
    pauseMs: number;
  },
) {
  const learned = metrics.declare.counter(
    'iot_baseline_learned_total',
    'Baselines of sensors that were learned, one a day',
  );
  const lag = new LearningLag(clock);
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = new Steps({ retry, isPressed: () => true, overdueMs: () => lag.overdueMs() });
  const owner = `${config.mqtt.clientId}:${randomUUID()}`;
  const learner = createLearner({
    store,
    groups: config.retention.latestGroups,
    clock: clockGuard,
    steps,
    leases: createLeases({ store: store.packLeases, owner, logger }),
    lag,
    onLearned: () => learned.inc(),
  });
  metrics.gauge(
    'iot_baseline_lag_seconds',
    'Time for which the oldest group of devices could have learned its next baselines; some hours are normal',
    () => lag.overdueMs() / 1000,
  );
  metrics.states(
    'iot_baseline_groups',
    'Groups of devices by their baselines of the present day: learned, missing',
    () => lag.groups(),
  );
  const rounds = new Rounds({
    steps,
    pauseMs,
    work: learner.learnDue,
    logger,
    failed: 'baselines could not be learned, and are learned later',
  });
  return { start: () => rounds.start(), stop: () => rounds.stop(STOP_WITHIN_MS) };
}
