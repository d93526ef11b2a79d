import { closingOf, DAY_MS, dayOf, HOUR_MS, settlingOf } from '../../../schema/rules.js';
import { createFirstPass, createSecondPass } from './passes.js';
import { createSensorPacker } from './sensor-hour.js';

/** @import { Behind } from './index.js' */
/** @import { ClockGuard } from '../../store/clock-guard.js' */
/** @import { Logger } from 'pino' */
/** @import { PackLeases, PackProgress } from '../../store/history/progress.js' */
/** @import { PackingObserver } from './sensor-hour.js' */
/** @import { Steps } from './steps.js' */
/** @import { Store } from '../../store/index.js' */

/**
 * Creates the packer. It packs all due hours, one group of devices after the other: first every closed hour, then again the hours of every
 * day for which no more late samples are expected.
 *
 * @param {object} deps
 * @param {Pick<Store, 'packing' | 'packProgress'>} deps.store
 * @param {number} deps.groups `LATEST_GROUPS`
 * @param {Pick<ClockGuard, 'now'>} deps.clock
 * @param {Steps} deps.steps
 * @param {Leases} deps.leases
 * @param {Behind} deps.behind
 * @param {PackingObserver & { onHour: (seconds: number) => void }} deps.observer
 */
export function createPacker({ store, groups, clock, steps, leases, behind, observer }) {
  const { packing, packProgress: progress } = store;
  const sensors = createSensorPacker({ store: packing, steps, observer });
  const firstPass = createFirstPass({ store: packing, clock, steps, sensors, observer });
  const secondPass = createSecondPass({ store: packing, clock, steps, sensors, observer });

  /** @param {number} group @returns {Promise<PackProgress>} */
  async function read(group) {
    const found = await steps.run(() => progress.read(group));
    behind.note(group, found.packedUntil);
    return found;
  }

  /** @param {number} group @param {number} hour epoch ms */
  async function packHour(group, hour) {
    const began = performance.now();
    await firstPass.packHour(group, hour);
    const until = hour + HOUR_MS;
    await steps.run(() => progress.writePacked(group, until));
    behind.note(group, until);
    observer.onHour((performance.now() - began) / 1000);
    return until;
  }

  /** @param {number} group @param {number} day epoch ms */
  async function settleDay(group, day) {
    await secondPass.settleDay(group, day);
    const until = day + DAY_MS;
    await steps.run(() => progress.writeSettled(group, until));
    return until;
  }

  /** @param {number} group @param {number} hour epoch ms */
  async function settleNoticed(group, hour) {
    await secondPass.settleNoticed(group, hour);
    const until = hour + HOUR_MS;
    await steps.run(() => progress.writeNoticed(group, until));
    return until;
  }

  /** @param {number} group */
  async function packGroup(group) {
    // Progress is read again, because the previous owner of the lease may have packed everything.
    let { packedUntil, settledUntil, noticedUntil } = await read(group);
    while (isHourDue(packedUntil, await clock.now())) packedUntil = await packHour(group, packedUntil);
    while (isDayDue({ packedUntil, settledUntil }, await clock.now())) {
      settledUntil = await settleDay(group, dayOf(settledUntil));
    }
    // Late samples are packed only when the hour in which they arrived has closed. So all new statistics are younger
    // than these samples, by more than the margin for clocks.
    while (isHourDue(noticedUntil, await clock.now()))
      noticedUntil = await settleNoticed(group, noticedUntil);
  }

  /** @param {number} group */
  async function packIfDue(group) {
    const found = await read(group);
    const now = await clock.now();
    const isHour = isHourDue(found.packedUntil, now) || isHourDue(found.noticedUntil, now);
    if (!isHour && !isDayDue(found, now)) return;
    await leases.hold(group, () => packGroup(group));
  }

  return {
    /**
     * Packs all groups that are due now and that no other process is packing.
     *
     * @returns {Promise<void>}
     * @throws the error of the first group that failed, after the other groups were packed
     */
    async packDue() {
      /** @type {unknown[]} */
      const failures = [];
      for (const group of shuffled(groups)) {
        await packIfDue(group).catch((error) => failures.push(error));
        if (steps.stopped) return;
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** @typedef {ReturnType<typeof createPacker>} Packer */

/** @param {number} hour epoch ms @param {number} now */
const isHourDue = (hour, now) => now >= closingOf(hour);

/** @param {Pick<PackProgress, 'packedUntil' | 'settledUntil'>} progress @param {number} now */
function isDayDue({ packedUntil, settledUntil }, now) {
  const day = dayOf(settledUntil);
  return packedUntil >= day + DAY_MS && now >= settlingOf(day);
}

/**
 * Shuffles the groups, so that processes that start at the same moment begin with different groups.
 *
 * @param {number} groups
 * @returns {number[]}
 */
const shuffled = (groups) =>
  Array.from({ length: groups }, (_, group) => ({ group, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ group }) => group);

/** Time in ms between two renewals of a lease. A lease would expire after three times this time. */
const RENEW_EVERY_MS = 20_000;

/**
 * Distributes groups among processes. A process leases a group with due hours, and releases the group afterwards. So an idle process takes
 * the next group, and no process needs to know how many processes there are. A lease only spreads the work. If a lease is lost, two processes
 * pack the same hours, and the result is the same.
 *
 * @param {object} deps
 * @param {PackLeases} deps.store
 * @param {string} deps.owner identifier that no other process has
 * @param {Logger} deps.logger
 */
export function createLeases({ store, owner, logger }) {
  /** @param {number} group */
  const renew = (group) => () =>
    void store.renew(group, owner).catch((error) => {
      logger.debug({ group, reason: String(error) }, 'the lease of a group could not be renewed');
    });

  return {
    /**
     * Runs some work while this process has the lease of a group.
     *
     * @param {number} group
     * @param {() => Promise<void>} work
     * @returns {Promise<boolean>} false: another process has the lease, and `work` did not run
     * @throws what `work` throws, or `unavailable`
     */
    async hold(group, work) {
      if (!(await store.take(group, owner))) return false;
      const renewal = setInterval(renew(group), RENEW_EVERY_MS).unref();
      try {
        await work();
      } finally {
        clearInterval(renewal);
        // A lease that cannot be released expires.
        await store.release(group, owner).catch(() => {});
      }
      return true;
    },
  };
}

/** @typedef {Pick<ReturnType<typeof createLeases>, 'hold'>} Leases */
