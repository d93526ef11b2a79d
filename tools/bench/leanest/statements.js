import { createLatest } from '../../../api/store/latest.js';
import { createSampleWrites } from '../../../api/store/measurements/writes.js';

/** @import { LatestUpdate } from '../../../api/store/latest.js' */
/** @import { SensorSeries } from '../../../api/store/measurements/writes.js' */
/** @import { Query, Session } from '../../../api/store/session.js' */
/** @import { Write } from '../../../api/store/write-merger.js' */

/**
 * What our own store would send, without sending it: so the leanest loop writes the very same batches.
 *
 * @returns {{ rows: (device: Buffer, series: SensorSeries[]) => Query[], updates: (group: number, updates: LatestUpdate[]) => Query[] }}
 */
export function createStatements() {
  /** @type {Query[]} */
  let taken = [];
  const session = /** @type {Session} */ ({
    writeMerged: async (/** @type {Write} */ { take }) => {
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
