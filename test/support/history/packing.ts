import pino from 'pino';
import { Behind } from '../../../api/history/packing/index.js';
import { createPacker } from '../../../api/history/packing/packer.js';
import { Steps } from '../../../api/history/packing/steps.js';
import { Retry } from '../../../api/store/sending/retry.js';

/** @import { Leases } from '../../../api/history/packing/packer.js' */
/** @import { Store } from '../../../api/store/index.js' */

/** Leases without other processes. @type {Leases} */
export const ALONE = {
  async hold(_group, work) {
    await work();
    return true;
  },
};

/**
 * Makes a packer that packs when the test calls it.
 *
 * @param {object} options
 * @param {Pick<Store, 'packing' | 'packProgress'>} options.store
 * @param {number} options.groups
 * @param {() => number} options.clock epoch ms, set by the test
 * @param {Leases} [options.leases] default: no other packer
 */
export function createTestPacker({ store, groups, clock, leases = ALONE }) {
  const logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' });
  const behind = new Behind({ clock, batchDays: 30, logger });
  const retry = new Retry({ logger, onRetry: () => {} });
  const steps = new Steps({ retry, isPressed: () => false, overdueMs: () => behind.overdueMs() });
  const counts = { hours: 0, samples: 0, groupHours: 0, unreadable: 0, refused: 0 };
  const packer = createPacker({
    store,
    groups,
    // The guard of a process answers with a promise while it waits.
    clock: { now: async () => clock() },
    steps,
    leases,
    behind,
    observer: {
      onPacked(samples) {
        counts.hours++;
        counts.samples += samples;
      },
      onHour() {
        counts.groupHours++;
      },
      onUnreadable(_hour, rows) {
        counts.unreadable += rows;
      },
      onRefused() {
        counts.refused++;
      },
    },
  });
  return { packDue: packer.packDue, behind, counts };
}
