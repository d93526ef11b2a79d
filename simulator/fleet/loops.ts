import type { Member } from './fleet.ts';
import { createOpenSchedule, Pacer } from './pacer.ts';
import { createSchedule, Scheduler } from './scheduler.ts';

/** Every device measures once per interval and publishes once per batch interval. Acknowledgements limit the rate. */
export function createClosedLoop(members: Member[], pace: { intervalMs: number; batchMs: number }) {
  const schedule = createSchedule({ devices: members.length, ...pace });
  return new Scheduler({
    schedule,
    intervalMs: pace.intervalMs,
    onDue(index, ts) {
      const member = members[schedule.device(index)] as Member;
      member.measure(ts);
      if (schedule.endsBatch(index)) member.publish();
    },
  });
}

/**
 * The devices take turns to publish at a fixed rate. They do not wait for acknowledgements.
 * @param pace `perSecond`: messages a second; `samples`: of each sensor in a message
 */
export function createOpenLoop(members: Member[], pace: { perSecond: number; samples: number }) {
  let schedule: ReturnType<typeof createOpenSchedule>;
  const pacer = new Pacer({
    perSecond: pace.perSecond,
    onDue(index, dueAt) {
      const member = members[schedule.device(index)] as Member;
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
