import { join, relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** @import { Test } from '@jest/test-result' */

/**
 * Seconds of a worker for the slowest files, measured on two processors. Each file of about 15 s or more belongs
 * here: a slow file that begins last leaves a processor idle until its end.
 *
 * @type {Record<string, number>}
 */
export const SECONDS = {
  'contract/schemathesis.test.js': 115,
  'browser/every-view.test.js': 75,
  'thorough/database-away.test.js': 70,
  'thorough/stream-out.test.js': 60,
  'browser/fleet.test.js': 40,
  'thorough/drain.test.js': 40,
  'thorough/puback.test.js': 35,
  'integration/alarms.test.js': 30,
  'thorough/live.test.js': 30,
  'browser/sensor.test.js': 25,
  'thorough/subscriber.test.js': 25,
  'infra/operations/index.test.js': 20,
  'integration/http/dead-letters.test.js': 20,
  'thorough/broker-tls.test.js': 20,
  'thorough/sparkplug-external.test.js': 20,
  'thorough/subscriber-errors.test.js': 18,
  'integration/field/aliases.test.js': 15,
  'integration/http/paging-history.test.js': 15,
  'integration/mqtt5-clauses.test.js': 15,
  'infra/operations/ssm.test.js': 14,
  'unit/field/histories.test.js': 12,
  'unit/history/simulation.test.js': 12,
};

/** The types of the package take the class for a member of its default export. @type {any} */
const JestSequencer = Sequencer;

/**
 * The order of test files: those that failed last time, then the slowest first. For a file that this checkout has
 * not run yet, the table counts. Files that are not in the table follow by their size.
 */
export default class SlowestFirst extends JestSequencer {
  /** @param {Test[]} tests @returns {Test[]} */
  sort(tests) {
    const secondsOf = (/** @type {Test} */ test) => {
      if (this.hasFailed(test)) return Number.MAX_VALUE;
      const { path, context } = test;
      const known = SECONDS[relative(join(context.config.rootDir, 'test'), path)] ?? 0;
      return test.duration === undefined ? known : test.duration / 1000;
    };
    /** @type {Test[]} */
    const bySize = super.sort(tests);
    return bySize.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  }
}
