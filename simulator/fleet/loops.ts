import { createOpenSchedule, Pacer } from './pacer.js';
import { createSchedule, Scheduler } from './scheduler.js';

/** @import { Member } from './fleet.js' */

/**
 * Creates a loop in which every device measures once per interval and publishes once per batch interval. Acknowledgements limit
 * the rate.
 *
 * @param {Member[]} members
 * @param {{ intervalMs: number, batchMs: number }} pace
 */
export function createClosedLoop(members, pace) {
  const schedule = createSchedule({ devices: members.length, ...pace });
  return new Scheduler({
    schedule,
    intervalMs: pace.intervalMs,
    onDue(index, ts) {
      const member = /** @type {Member} */ (members[schedule.device(index)]);
      member.measure(ts);
      if (schedule.endsBatch(index)) member.publish();
    },
  });
}

/**
 * Creates a loop in which the devices take turns to publish at a fixed rate. They do not wait for acknowledgements.
 *
 * @param {Member[]} members
 * @param {{ perSecond: number, samples: number }} pace `perSecond`: messages a second; `samples`: samples of each sensor in a
 *   message
 */
export function createOpenLoop(members, pace) {
  /** @type {ReturnType<typeof createOpenSchedule>} */
  let schedule;
  const pacer = new Pacer({
    perSecond: pace.perSecond,
    onDue(index, dueAt) {
      const member = /** @type {Member} */ (members[schedule.device(index)]);
      for (const ts of schedule.times(index)) member.measure(ts);
      member.publish(dueAt);
    },
  });
  return {
    start() {
      schedule = createOpenSchedule({ ...pace, devices: members.length, startedAt: Date.now() });
      pacer.start();
    },
    stop: () => pacer.stop(),
    behindMs: () => pacer.behindMs(),
  };
}
