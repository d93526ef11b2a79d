import pino from 'pino';
import { createLearner, LearningLag } from '../../../api/history/baselines/learner.js';
import { Steps } from '../../../api/history/packing/steps.js';
import { Retry } from '../../../api/store/sending/retry.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { DAY_MS, dayOf } from '../../../schema/rules.js';
import { until } from '../until.js';
import { ALONE } from './packing.js';

/** @import { ClockGuard } from '../../../api/store/clock-guard.js' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { TestSystem } from '../system/index.js' */

/** A baseline with one mean and deviation for every hour. @param {number} mean @param {number} deviation */
export const flatProfile = (mean, deviation) =>
  Float32Array.from({ length: 48 }, (_, index) => (index % 2 === 0 ? mean : deviation));

/** @param {string} device @param {string} sensor names */
export function keysOf(device, sensor) {
  const { id, bytes } = /** @type {Identity} */ (identifyDevice(device));
  const identity = /** @type {Identity} */ (identifySensor(id, sensor));
  return { device: bytes, sensor: identity.bytes, key: `${id}/${identity.id}` };
}

/**
 * Stores the usual values of some sensors for yesterday, today and tomorrow, and waits until a system uses them. The period
 * `baselines` of the system must be short.
 *
 * @param {TestSystem} system
 * @param {Array<{ device: string, sensor: string, mean: number, deviation: number }>} sensors names
 */
export async function writeUsual(system, sensors) {
  const { latestGroups } = system.config.retention;
  const today = dayOf(Date.now());
  const store = await system.openStore();
  for (const { device, sensor, mean, deviation } of sensors) {
    const keys = keysOf(device, sensor);
    for (const day of [today - DAY_MS, today, today + DAY_MS]) {
      const learned = [{ ...keys, profile: flatProfile(mean, deviation) }];
      await store.baselines.write(groupOf(keys.device, latestGroups), day, learned);
    }
  }
  for (let group = 0; group < latestGroups; group++) {
    await store.baselines.writeLearned(group, today + 2 * DAY_MS);
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

/**
 * Makes a learner that learns when the test calls it, without rests.
 *
 * @param {object} options
 * @param {Pick<Store, 'packing' | 'baselines'>} options.store
 * @param {number} options.groups
 * @param {() => number} options.clock epoch ms, set by the test
 * @param {Pick<ClockGuard, 'now'>} [options.guard] of this clock; default: it is always right
 */
export function createTestLearner({ store, groups, clock, guard = { now: clock } }) {
  const logger = pino({ level: 'silent' });
  const retry = new Retry({ logger, onRetry: () => {} });
  const steps = new Steps({ retry, isPressed: () => false, overdueMs: () => 0 });
  const lag = new LearningLag(clock);
  const counts = { learned: 0 };
  const learner = createLearner({
    store,
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
