import { expect, test } from '@jest/globals';
import { createDayStatistics } from '../../api/store/history/days.ts';
import type { Session } from '../../api/store/sending/session.ts';
import { closingOf, DAY_MS, dayOf, HOUR_MS, isExact } from '../../schema/rules.ts';
import { readMetric } from '../support/metrics.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../support/system/packed.ts';

const packed = usePackedSystem();
const { clock, send, read, historyOf, statisticsOf } = packed;

/** Reads by the driver alone, without the rest of the store. */
const session = {
  all: async ({ cql }, params) => (await packed.database().execute(cql, params, { prepare: true })).rows,
} as Session;

test('Hourly packing of samples: late samples arrive: readable at once, and only their hours are packed again', async () => {
  const hour = packed.newHour();
  await send('tardy', samplesOf(hour, 20));
  await send('timely', samplesOf(hour, 20));
  clock.now = closingOf(hour);
  await packed.packer().packDue();
  const packedAt = clock.now;
  clock.now += 60_000;
  await send('tardy', samplesOf(hour, 10, 20));
  await send('new', samplesOf(hour, 5));
  const lateAt = clock.now;
  expect(await read('tardy', hour)).toEqual(samplesOf(hour, 30));
  expect(await read('new', hour)).toEqual(samplesOf(hour, 5));
  expect(await statisticsOf('tardy', hour)).toMatchObject({
    statistics: { count: 20 },
    readFrom: packedAt,
    lateAt,
  });
  expect(await statisticsOf('new', hour)).toMatchObject({ statistics: null, readFrom: null, lateAt });
  expect(await readMetric(packed.system(), 'iot_ingest_late_samples_total')).toBe(15);

  const day = dayOf(hour);
  const settling = day + 2 * DAY_MS + HOUR_MS;
  clock.now = settling - 1;
  await packed.packer().packDue();
  expect(await statisticsOf('tardy', hour)).toMatchObject({ statistics: { count: 20 } });
  clock.now = settling;
  const packer = packed.packer();
  await packer.packDue();
  expect(packer.counts).toMatchObject({ hours: 2, samples: 35 });
  for (const [device, count] of [
    ['tardy', 30],
    ['new', 5],
  ] as const) {
    const row = await statisticsOf(device, hour);
    expect(row).toMatchObject({ statistics: { count }, readFrom: clock.now, lateAt });
    expect(row && isExact(row)).toBe(true);
    expect(await historyOf(device, hour)).toEqual(samplesOf(hour, count));
    expect(await read(device, hour)).toEqual(samplesOf(hour, count));
  }
  expect(await statisticsOf('timely', hour)).toMatchObject({ readFrom: packedAt });
  for (let group = 0; group < GROUPS; group++) {
    expect(await packed.store().packProgress.read(group)).toMatchObject({ settledUntil: day + DAY_MS });
  }
  // The second pass copies the statistics of the day, also those that it has packed again.
  for (const [device, count] of [
    ['tardy', 30],
    ['new', 5],
    ['timely', 20],
  ] as const) {
    const copies = await createDayStatistics(session).read(packed.keyOf(device), day, day + DAY_MS);
    expect(copies.get(day)).toMatchObject([{ hour, statistics: { count } }]);
  }
});
