import pino from 'pino';
import { Steps } from '../../../api/background/steps.ts';
import { createLearner, LearningLag } from '../../../api/features/baselines/learner.ts';
import { type BaselineStore, createBaselineStore } from '../../../api/features/baselines/store.ts';
import type { ClockGuard } from '../../../api/store/clock-guard.ts';
import type { Store } from '../../../api/store/index.ts';
import { Retry } from '../../../api/store/sending/retry.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { DAY_MS, dayOf } from '../../../schema/rules.ts';
import { ALONE } from '../history/packing.ts';
import type { TestSystem } from '../system/index.ts';
import { until } from '../until.ts';

export const flatProfile = (mean: number, deviation: number) =>
  Float32Array.from({ length: 48 }, (_, index) => (index % 2 === 0 ? mean : deviation));

/** @param sensor names */
export function keysOf(device: string, sensor: string) {
  const { id, bytes } = identifyDevice(device) as Identity;
  const identity = identifySensor(id, sensor) as SensorIdentity;
  return { device: bytes, sensor: identity.bytes, key: `${id}/${identity.id}` };
}

/**
 * Stores the usual values of some sensors for yesterday, today and tomorrow, and waits until a system uses them. The period
 * `baselines` of the system must be short.
 * @param sensors names
 */
export async function writeUsual(
  system: TestSystem,
  sensors: Array<{ device: string; sensor: string; mean: number; deviation: number }>,
) {
  const { latestGroups } = system.config.retention;
  const today = dayOf(Date.now());
  const table = createBaselineStore((await system.openStore()).session);
  for (const { device, sensor, mean, deviation } of sensors) {
    const keys = keysOf(device, sensor);
    for (const day of [today - DAY_MS, today, today + DAY_MS]) {
      const learned = [{ ...keys, profile: flatProfile(mean, deviation) }];
      await table.write(groupOf(keys.device, latestGroups), day, learned);
    }
  }
  for (let group = 0; group < latestGroups; group++) {
    await table.writeLearned(group, today + 2 * DAY_MS);
  }
  await until(
    async () => {
      const answers = sensors.map(({ device, sensor }) =>
        system.get(`/devices/${device}/sensors/${sensor}/baseline`),
      );
      return (await Promise.all(answers)).every(({ hours }) => hours.length > 0);
    },
    { what: 'baselines in memory' },
  );
}

export function createTestLearner({
  store,
  groups,
  clock,
  guard = { now: clock },
  baselines = createBaselineStore(store.session),
}: {
  store: Pick<Store, 'packing' | 'session'>;
  /** default: that of the store */
  baselines?: BaselineStore;
  groups: number;
  /** epoch ms, set by the test */
  clock: () => number;
  /** of this clock; default: it is always right */
  guard?: Pick<ClockGuard, 'now'>;
}) {
  const logger = pino({ level: 'silent' });
  const retry = new Retry({ logger, onRetry: () => {} });
  const steps = new Steps({ retry, isPressed: () => false, overdueMs: () => 0 });
  const lag = new LearningLag(clock);
  const counts = { learned: 0 };
  const learner = createLearner({
    store: { ...store, baselines },
    groups,
    clock: guard,
    steps,
    leases: ALONE,
    lag,
    onLearned() {
      counts.learned++;
    },
  });
  return { learnDue: learner.learnDue, lag, counts };
}
