import pino from 'pino';
import type { Leases } from '../../../api/background/index.ts';
import { Steps } from '../../../api/background/steps.ts';
import { Behind, type OnPacked } from '../../../api/history/packing/index.ts';
import { createPacker } from '../../../api/history/packing/packer.ts';
import type { Store } from '../../../api/store/index.ts';
import { Retry } from '../../../api/store/sending/retry.ts';

/** Leases without other processes. */
export const ALONE: Leases = {
  async hold(_group, work) {
    await work();
    return true;
  },
};

export function createTestPacker({
  store,
  groups,
  clock,
  leases = ALONE,
  listeners,
}: {
  store: Pick<Store, 'packing' | 'packProgress'>;
  groups: number;
  /** epoch ms, set by the test */
  clock: () => number;
  /** default: no other packer */
  leases?: Leases;
  /** default: nobody listens */
  listeners?: OnPacked[];
}) {
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
    ...(listeners && { listeners }),
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
