import { expect, test } from '@jest/globals';
import type { Store } from '../../api/store/index.ts';
import { closingOf, HOUR_MS } from '../../schema/rules.ts';
import { GROUPS, samplesOf, usePackedSystem } from '../support/system/packed.ts';

const packed = usePackedSystem();
const { clock, send, read, historyOf, statisticsOf, packedUntil } = packed;

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

test('Hourly packing of samples: killed after any of its writes: samples stay readable, and the next run completes the hour', async () => {
  const hour = packed.newHour();
  const samples = samplesOf(hour, 50);
  for (const sensor of ['a', 'b']) await send('killed', samples, sensor);
  await packed.packBefore(hour);
  clock.now = closingOf(hour);
  for (const write of ['writeSamples', 'writeStatistics', 'writePacked', 'none']) {
    const packing = packed.packer({ store: failAfter(packed.store(), write) }).packDue();
    await (write === 'none' ? packing : expect(packing).rejects.toThrow('killed'));
    for (const sensor of ['a', 'b']) {
      expect(await read('killed', hour, sensor)).toEqual(samples);
      const row = await statisticsOf('killed', hour, sensor);
      if (row?.statistics) expect(await historyOf('killed', hour, sensor)).toEqual(samples);
    }
    clock.now += 1000;
  }
  expect(await packedUntil()).toEqual(allUntil(hour + HOUR_MS));
  // The later packers had nothing to add, so there is still one row.
  expect(await packed.store().packed.readHour(packed.keyOf('killed', 'a'), hour)).toHaveLength(1);
});

/**
 * Wraps a store so that all requests fail from a certain write on. That write is stored, but its answer is an error.
 */
function failAfter(store: Store, write: string) {
  let isDead = false;
  const wrap = <T extends object>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, member]) => [
        name,
        async (...args: unknown[]) => {
          if (isDead) throw new Error('killed');
          const answer = await member(...args);
          isDead ||= name === write;
          if (isDead) throw new Error('killed');
          return answer;
        },
      ]),
    ) as T;
  return { packing: wrap(store.packing), packProgress: wrap(store.packProgress) };
}
