import { expect, test } from '@jest/globals';
import { HOUR_MS } from '../../schema/rules.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../support/system/packed.ts';

const packed = usePackedSystem();
const { clock, send, historyOf, statisticsOf, packedUntil } = packed;

const allUntil = (until: number) => Array(GROUPS).fill(until);

test('Hourly packing of samples: an hour closes: its samples are packed then, and not a millisecond before', async () => {
  const hour = packed.newHour();
  const samples = samplesOf(hour, 100);
  await send('early', samples.slice(0, 60));
  await send('early', samples.slice(40));
  clock.now = hour + 2 * HOUR_MS - 1;
  await packed.packer().packDue();
  expect(await statisticsOf('early', hour)).toBeNull();
  expect(await packedUntil()).toEqual(allUntil(hour));

  clock.now = hour + 2 * HOUR_MS;
  const packer = packed.packer();
  await packer.packDue();
  expect(await packedUntil()).toEqual(allUntil(hour + HOUR_MS));
  expect(await historyOf('early', hour)).toEqual(samples);
  expect(await statisticsOf('early', hour)).toEqual({
    hour,
    statistics: { count: 100, min: -3.5, max: 95.5, sum: 4600, first: -3.5, last: 95.5 },
    readFrom: clock.now,
    lateAt: null,
  });
  expect(packer.counts).toEqual({ hours: 1, samples: 100, groupHours: GROUPS, unreadable: 0, refused: 0 });
  expect(packer.behind.overdueMs()).toBe(0);
  await packer.packDue();
  expect(packer.counts.groupHours).toBe(GROUPS);
});
