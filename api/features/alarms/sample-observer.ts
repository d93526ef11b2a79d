import { dayOf } from '../../../schema/rules.ts';
import type { SampleObserver } from '../../ingest/handlers/sample-observer.ts';
import type { EvaluationScheduler } from './evaluation/evaluation-scheduler.ts';
import type { Recovery } from './recovery.ts';
import type { RuleRegistry } from './rules/rule-registry.ts';

/** Age in ms of a late sample. Its day is noted before the acknowledgement, so that its evaluation survives a crash. */
const LATE_MS = 10 * 60_000;

export function createSampleObserver({
  rules,
  scheduler,
  recovery,
  clock,
}: {
  rules: RuleRegistry;
  scheduler: EvaluationScheduler;
  recovery: Recovery;
  clock: () => number;
}): SampleObserver {
  return {
    note(device, series, seenAt) {
      const before = seenAt === null ? Number.POSITIVE_INFINITY : clock() - LATE_MS;
      const days: Set<number> = new Set();
      for (const { known, times } of series) {
        if (Number(times[0]) >= before || rules.rulesOf(device, known).length === 0) continue;
        for (const ts of times) if (ts < before) days.add(dayOf(ts));
      }
      return days.size === 0 ? undefined : recovery.note(device, days);
    },

    observe(device, series) {
      const before = clock() - LATE_MS;
      for (const { known, times, values } of series) {
        for (const rule of rules.rulesOf(device, known)) {
          if (Number(times[0]) >= before) scheduler.takeSamples(device, known, rule, { times, values });
          else {
            const range = { from: Number(times[0]), to: Number(times[times.length - 1]) };
            scheduler.evaluate({ device, sensor: known }, rule, range);
          }
        }
      }
    },
  };
}
