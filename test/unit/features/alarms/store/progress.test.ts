import { expect, test } from '@jest/globals';
import { createAlarmProgress } from '../../../../../api/features/alarms/store/progress.ts';
import { HOUR_MS } from '../../../../../schema/rules.ts';
import { createMemoryStore } from '../../../../support/memory-store/index.ts';

const NOW = Date.UTC(2026, 4, 5, 12);

test('Alarm progress: 8,000 late days of a device are noted: each request has at most 2,000 statements', async () => {
  const sizes: number[] = [];
  const { store } = await createMemoryStore({
    clock: () => NOW,
    around: ({ queries }, run) => {
      if (queries.some(({ query }) => String(query).includes('alarm_due'))) sizes.push(queries.length);
      return run();
    },
  });
  const days = Array.from({ length: 8000 }, (_, index) => NOW - index * HOUR_MS);
  await createAlarmProgress(store.session).noteDue({ bytes: Buffer.alloc(16, 1), group: 0 }, NOW, days);
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2000);
});
