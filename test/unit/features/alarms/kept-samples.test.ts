import { expect, test } from '@jest/globals';
import { KeptSamples } from '../../../../api/features/alarms/kept-samples.ts';

/** Runs all callbacks that are due. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('Kept samples: one group arrives after the time of the read: only the other group is kept', async () => {
  const kept = new KeptSamples({ readWithinMs: 10 });
  const devices = new Map();
  let arrive = () => {};
  await kept.readAll([0, 1], (group) =>
    group === 0
      ? Promise.resolve(devices)
      : new Promise((resolve) => {
          arrive = () => resolve(new Map());
        }),
  );
  arrive();
  await settle();
  expect([kept.take(0), kept.take(1)]).toEqual([devices, undefined]);
});

test('Kept samples: one group cannot be read: nothing is kept of it', async () => {
  const kept = new KeptSamples();
  await kept.readAll([0, 1], async (group) => (group === 0 ? undefined : new Map()));
  expect([kept.has(0), kept.has(1)]).toEqual([false, true]);
});

test('Kept samples: another process has just taken the lease: the samples are kept, because that process may end', async () => {
  const kept = new KeptSamples();
  kept.keep(0, new Map());
  kept.dropOld(0);
  expect(kept.has(0)).toBe(true);
});
