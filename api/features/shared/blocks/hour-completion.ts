import { closingOf } from '../../../../schema/rules.ts';
import type { Leases } from '../../../background/leases.ts';
import type { Steps } from '../../../background/steps.ts';
import type { ClockGuard } from '../../../store/clock-guard.ts';

/** Completes each group of devices hour by hour, when the hour has closed. */
export function createHourCompletion({
  groups,
  clock,
  steps,
  leases,
  readUntil,
  completeHour,
  onUntil,
}: {
  groups: number;
  clock: Pick<ClockGuard, 'now'>;
  steps: Steps;
  leases: Leases;
  readUntil: (group: number) => Promise<number>;
  /** stores the progress and returns it, in epoch ms; may be repeated without harm */
  completeHour: (group: number, hour: number) => Promise<number>;
  onUntil: (group: number, until: number) => void;
}) {
  async function completeIfDue(group: number) {
    const found = await readUntil(group);
    onUntil(group, found);
    if ((await clock.now()) < closingOf(found)) return;
    await leases.hold(group, async () => {
      // Read the progress again, because the previous owner of the lease may have completed all hours.
      let until = await readUntil(group);
      while ((await clock.now()) >= closingOf(until)) {
        until = await completeHour(group, until);
        onUntil(group, until);
      }
    });
  }

  return {
    /**
     * Skips hours that another process is completing. Throws the error of the first group that failed, after the other groups were
     * completed.
     */
    async completeDue(): Promise<void> {
      const failures: unknown[] = [];
      for (let group = 0; group < groups && !steps.stopped; group++) {
        await completeIfDue(group).catch((error) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
