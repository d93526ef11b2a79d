import { createLatest } from '../../../api/store/latest.js';
import { createSampleWrites } from '../../../api/store/measurements/writes.js';

/** @typedef {import('../../../api/store/session.js').Query} Query */

/**
 * What our own store would send, without sending it: so the leanest loop writes the very same batches.
 *
 * @returns {{ rows: (device: Buffer, series: import('../../../api/store/measurements/writes.js').SensorSeries[]) => Query[], updates: (group: number, updates: import('../../../api/store/latest.js').LatestUpdate[]) => Query[] }}
 */
export function createStatements() {
  /** @type {Query[]} */
  let taken = [];
  const session = /** @type {import('../../../api/store/session.js').Session} */ ({
    writeMerged: async (/** @type {import('../../../api/store/write-merger.js').Write} */ { take }) => {
      taken = take();
    },
  });
  const samples = createSampleWrites(session);
  const latest = createLatest(session);
  return {
    rows(device, series) {
      const [hour, ...more] = samples.plan(series, 1);
      if (!hour || more.length > 0) throw new Error('the samples of a template are of one hour');
      return samples.encode(device, hour);
    },
    updates(group, updates) {
      void latest.write(
        group,
        () => updates,
        () => 0,
      );
      return taken;
    },
  };
}
