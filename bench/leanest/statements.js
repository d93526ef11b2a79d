import { createLatest } from '../../api/store/latest.js';
import { createSampleWrites } from '../../api/store/measurements/writes.js';

/** @typedef {import('../../api/store/session.js').Query} Query */

/**
 * What our own store would send, without sending it: so the leanest loop writes the very same batches.
 *
 * @returns {{ rows: (device: Buffer, series: import('../../api/store/measurements/writes.js').SensorSeries[]) => Query[], updates: (group: number, updates: import('../../api/store/latest.js').LatestUpdate[]) => Query[] }}
 */
export function createStatements() {
  /** @type {Query[]} */
  let taken = [];
  const session = /** @type {import('../../api/store/session.js').Session} */ ({
    writeBatch: async (_name, take) => {
      taken = take();
    },
  });
  const samples = createSampleWrites(session);
  const latest = createLatest(session);
  return {
    rows(device, series) {
      const [hour, ...more] = samples.plan(series);
      if (!hour || more.length > 0) throw new Error('the samples of a template are of one hour');
      return samples.encode(device, hour).queries;
    },
    updates(group, updates) {
      void latest.write(group, () => updates);
      return taken;
    },
  };
}
