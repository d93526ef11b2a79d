import { expect, test } from '@jest/globals';
import { MillraceError } from '../../../common/errors.ts';
import { DAY_MS, HOUR_MS, isExact } from '../../../schema/rules.ts';
import { HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';

const CLOSING = HOUR + 2 * HOUR_MS;
const SETTLING = Date.UTC(2026, 4, 7, 1);

const path = useMemoryPath();
const SAMPLES = samplesOf(HOUR, 5);
const [FIRST, SECOND] = SAMPLES as [{ ts: number; value: number }, { ts: number; value: number }];

/** The last sample that `path.send` would keep has the greater bytes, so each replacement here has smaller ones. */
const REPLACED = { ts: SECOND.ts, value: 0.25 };
const CORRECTED = [FIRST, REPLACED, ...SAMPLES.slice(2)];

async function pack() {
  await path.packer().packDue();
}

test('Correction: an open hour: read at once, and counted when the hour is packed', async () => {
  await path.send('device', SAMPLES);
  await path.correct('device', { samples: [REPLACED] });
  expect(await path.read('device', HOUR)).toEqual(CORRECTED);
  path.clock.now = CLOSING;
  await pack();
  expect(await path.read('device', HOUR)).toEqual(CORRECTED);
  const row = await path.statisticsOf('device', HOUR);
  expect(row && isExact(row)).toBe(true);
  expect(row?.statistics?.sum).toBe(CORRECTED.reduce((sum, { value }) => sum + value, 0));
});

test('Correction: packed, corrected, packed, the old message repeated, packed: the correction stays', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  await path.correct('device', { samples: [REPLACED], spans: [{ from: FIRST.ts, to: FIRST.ts + 1 }] });
  const expected = [REPLACED, ...SAMPLES.slice(2)];
  expect(await path.read('device', HOUR)).toEqual(expected);
  expect(await path.countOf('device', HOUR)).toEqual({ count: 4, source: 'samples' });
  path.clock.now = SETTLING;
  await pack();
  expect(await path.countOf('device', HOUR)).toEqual({ count: 4, source: 'statistics' });
  path.clock.now += HOUR_MS;
  await path.send('device', SAMPLES);
  expect(await path.read('device', HOUR)).toEqual(expected);
  path.clock.now += 3 * HOUR_MS;
  await pack();
  expect(await path.read('device', HOUR)).toEqual(expected);
  expect(await path.countOf('device', HOUR)).toEqual({ count: 4, source: 'statistics' });
});

test('Correction: all samples of a packed hour are removed: readers have no hour, and read no samples of it', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  await path.correct('device', { spans: [{ from: HOUR, to: HOUR + HOUR_MS }] });
  expect(await path.read('device', HOUR)).toEqual([]);
  path.clock.now = SETTLING;
  await pack();
  expect((await path.statisticsOf('device', HOUR))?.statistics?.count).toBe(0);
  expect(await path.read('device', HOUR)).toEqual([]);
  expect(await path.hoursOf('device', HOUR)).toEqual([]);
  expect(await path.countOf('device', HOUR)).toEqual({ count: 0, source: 'samples' });
});

test('Correction: the database answers after hours: the hour is marked again after the commit', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await path.correct('device', {
    samples: [REPLACED],
    // A packer that reads meanwhile does not find the rows.
    beforeRows: async () => {
      path.clock.now = SETTLING;
      await pack();
    },
  });
  expect(await path.countOf('device', HOUR)).toEqual({ count: 5, source: 'samples' });
  expect(await path.read('device', HOUR)).toEqual(CORRECTED);
});

test('Correction: the database answers after hours, and the process ends after the commit: readers agree', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  let attempts = 0;
  const correction = path.correct('device', {
    samples: [REPLACED],
    beforeRows: async () => {
      attempts++;
      path.clock.now = SETTLING;
      if (attempts === 1) throw new MillraceError('unavailable', 'no node answers');
      await pack();
    },
    afterRows: () => {
      throw new MillraceError('rejected', 'the process ends');
    },
  });
  await expect(correction).rejects.toThrow('the process ends');
  expect(await path.read('device', HOUR)).toEqual(CORRECTED);
  expect(await path.countOf('device', HOUR)).toEqual({ count: 5, source: 'samples' });
});

test('Correction: two in one microsecond: the second has the greater revision', async () => {
  await path.send('device', SAMPLES);
  for (const value of [9, 1]) await path.correct('device', { samples: [{ ts: FIRST.ts, value }] });
  expect((await path.read('device', HOUR))[0]).toEqual({ ts: FIRST.ts, value: 1 });
});

/** Every value that a row of history has for the hour, whether readers see it or not. */
const storedValues = async () =>
  (await path.store.packed.readHour(path.keyOf('device'), HOUR)).flatMap(({ values }) => [...values]);

test('Correction that can no longer be undone: the old message is repeated: replaced and removed samples stay deleted', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  const span = { from: FIRST.ts, to: FIRST.ts + 1 };
  await path.correct('device', { samples: [{ ts: SECOND.ts, value: 77 }] });
  await path.correct('device', { samples: [REPLACED], spans: [span] });
  const corrected = [REPLACED, ...SAMPLES.slice(2)];
  path.clock.now = CLOSING + 8 * DAY_MS - HOUR_MS;
  await pack();
  expect(await storedValues()).toEqual(expect.arrayContaining([FIRST.value, SECOND.value, 77]));
  path.clock.now = CLOSING + 8 * DAY_MS + 3 * HOUR_MS;
  await pack();
  const rest = corrected.map(({ value }) => value);
  expect((await storedValues()).sort()).toEqual(rest.sort());
  expect(await path.read('device', HOUR)).toEqual(corrected);
  expect(await path.countOf('device', HOUR)).toEqual({ count: 4, source: 'statistics' });
  await path.send('device', SAMPLES);
  path.clock.now += 3 * HOUR_MS;
  await pack();
  expect(await path.read('device', HOUR)).toEqual(corrected);
  expect((await storedValues()).sort()).toEqual(rest.sort());
});

test('Corrections, each second: the hour is packed: they share a row, readers see the same, and each can be undone', async () => {
  await path.send('device', SAMPLES);
  const revisions: number[] = [];
  for (let value = 1; value <= 40; value++)
    revisions.push(
      await path.correct('device', { samples: [{ ts: FIRST.ts + 1000 + value, value: -value }] }),
    );
  path.clock.now = CLOSING;
  const before = await path.read('device', HOUR);
  await pack();
  const rows = async () =>
    new Set(
      (await path.store.packing.historyHour(path.keyOf('device'), HOUR)).map((row) =>
        row?.digest.toString('hex'),
      ),
    ).size;
  expect(await rows()).toBe(2);
  expect(await path.read('device', HOUR)).toEqual(before);
  await path.correct('device', { undoes: Number(revisions[20]) });
  const undone = before.filter(({ value }) => value !== -21);
  expect(await path.read('device', HOUR)).toEqual(undone);
  path.clock.now = CLOSING + 10 * DAY_MS;
  await pack();
  expect(await path.read('device', HOUR)).toEqual(undone);
  expect(await rows()).toBe(2);
});

test('Corrections in one row: some can still be undone: the others are joined, and these stay', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  const correct = async (from: number) => {
    for (let value = from; value < from + 10; value++)
      await path.correct('device', { samples: [{ ts: FIRST.ts + 1000 + value, value: -value }] });
  };
  await correct(1);
  path.clock.now += 4 * DAY_MS;
  await correct(11);
  const before = await path.read('device', HOUR);
  path.clock.now += 3 * HOUR_MS;
  await pack();
  for (const days of [5, 9]) {
    path.clock.now = CLOSING + (4 + days) * DAY_MS;
    await pack();
    expect(await path.read('device', HOUR)).toEqual(before);
  }
});

test('Corrections that can no longer be undone: many rows of one hour: joined to one row', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  for (let value = 1; value <= 20; value++) {
    await path.correct('device', { samples: [{ ts: FIRST.ts + 1000 + value, value: -value }] });
    path.clock.now += 1000;
  }
  const rows = async () => (await path.store.packed.readHour(path.keyOf('device'), HOUR)).length;
  expect(await rows()).toBe(21);
  const before = await path.read('device', HOUR);
  path.clock.now = CLOSING + 8 * DAY_MS + 3 * HOUR_MS;
  await pack();
  expect(await rows()).toBe(2);
  expect(await path.read('device', HOUR)).toEqual(before);
  await pack();
  expect(await rows()).toBe(2);
});

test('Corrections that can no longer be undone: a row cannot be read: nothing is deleted', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  await path.correct('device', { spans: [{ from: FIRST.ts, to: FIRST.ts + 1 }] });
  const { device, sensor } = path.keyOf('device');
  await path.database.execute(
    'INSERT INTO history (device_id, sensor_id, day, hour, digest, samples) VALUES (?, ?, ?, ?, ?, ?)',
    [device, sensor, new Date(HOUR - (HOUR % DAY_MS)), new Date(HOUR), Buffer.from('00'), Buffer.from([9])],
  );
  const stored = async () =>
    (await path.store.packing.historyHour(path.keyOf('device'), HOUR)).flatMap((row) => [
      ...(row?.values ?? []),
    ]);
  path.clock.now = CLOSING + 8 * DAY_MS + 3 * HOUR_MS;
  await pack();
  expect(await stored()).toContain(FIRST.value);
});

test('Correction that was undone: the undo can still be undone: no sample is deleted', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  const revision = await path.correct('device', { spans: [{ from: HOUR, to: HOUR + HOUR_MS }] });
  path.clock.now += 6 * DAY_MS;
  const undo = await path.correct('device', { undoes: revision });
  path.clock.now = CLOSING + 9 * DAY_MS;
  await pack();
  expect(await path.read('device', HOUR)).toEqual(SAMPLES);
  await path.correct('device', { undoes: undo });
  expect(await path.read('device', HOUR)).toEqual([]);
  expect(await storedValues()).toHaveLength(SAMPLES.length);
  path.clock.now += 9 * DAY_MS;
  await pack();
  expect(await storedValues()).toEqual([]);
  expect(await path.hoursOf('device', HOUR)).toEqual([]);
});

test('Corrections, each second: older ones of the hour are joined: they share a row too', async () => {
  await path.send('device', SAMPLES);
  path.clock.now = CLOSING;
  await pack();
  await path.correct('device', { samples: [REPLACED] });
  path.clock.now += 9 * DAY_MS;
  await pack();
  for (let value = 1; value <= 40; value++)
    await path.correct('device', { samples: [{ ts: FIRST.ts + 1000 + value, value: -value }] });
  const before = await path.read('device', HOUR);
  path.clock.now += 2 * DAY_MS;
  await pack();
  const history = await path.store.packing.historyHour(path.keyOf('device'), HOUR);
  expect(new Set(history.map((row) => row?.digest.toString('hex'))).size).toBe(3);
  expect(await path.read('device', HOUR)).toEqual(before);
});
