import { join, relative } from 'node:path';
import type { Test } from '@jest/test-result';
import Sequencer from '@jest/test-sequencer';

/**
 * Seconds of a worker for the slowest files, measured on two processors. Each file of about 15 s or more belongs
 * here: a slow file that begins last leaves a processor idle until its end.
 */
export const SECONDS: Record<string, number> = {
  'contract/schemathesis.test.ts': 115,
  'thorough/database-away.test.ts': 70,
  'thorough/features/kafka.test.ts': 60,
  'browser/every-view.test.ts': 50,
  'thorough/features/graph.test.ts': 45,
  'browser/fleet.test.ts': 40,
  'thorough/drain.test.ts': 40,
  'thorough/puback.test.ts': 35,
  'browser/sensor.test.ts': 25,
  'thorough/broker-tls.test.ts': 20,
  'thorough/features/sparkplug-external.test.ts': 20,
  'thorough/features/external-broker-errors.test.ts': 18,
  'integration/http/paging-history.test.ts': 15,
  'integration/mqtt5-clauses.test.ts': 15,
  'integration/roles.test.ts': 15,
  'thorough/live.test.ts': 15,
  'integration/http/access.test.ts': 14,
  'integration/features/dead-letters/routes.test.ts': 12,
  'unit/features/sparkplug/histories.test.ts': 12,
  'unit/history/simulation.test.ts': 12,
};

/** The types of the package take the class for a member of its default export. */
const JestSequencer = Sequencer as unknown as new (
  options: never,
) => { hasFailed(test: Test): boolean; sort(tests: Test[]): Test[] };

/**
 * The order of test files: those that failed last time, then the slowest first. For a file that this checkout has
 * not run yet, the table counts. Files that are not in the table follow by their size.
 */
export default class SlowestFirst extends JestSequencer {
  sort(tests: Test[]): Test[] {
    const secondsOf = (test: Test) => {
      if (this.hasFailed(test)) return Number.MAX_VALUE;
      const { path, context } = test;
      const known = SECONDS[relative(join(context.config.rootDir, 'test'), path)] ?? 0;
      return test.duration === undefined ? known : test.duration / 1000;
    };
    const bySize: Test[] = super.sort(tests);
    return bySize.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}
