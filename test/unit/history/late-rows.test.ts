import { expect, test } from '@jest/globals';
import { LateArrivalNotes, LateDayNotes } from '../../../api/ingest/late-samples.ts';
import { MillraceError } from '../../../common/errors.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';

const MINUTE_MS = 60_000;
const CLOSING = HOUR + 2 * HOUR_MS;
const DAY = Date.UTC(2026, 4, 5);
/** A day after the last hour of that day has closed. */
const SETTLING = Date.UTC(2026, 4, 7, 1);

const path = useMemoryPath();

/** @param at epoch ms */
const noticedAt = async (at: number) => {
  const { group } = path.keyOf('device');
  const noticed = at - (at % HOUR_MS);
  return (await path.store.packing.lateDayPage(group, noticed)).items.map(({ day }) => day);
};

/** Delays a write until the test calls `go`. */
function heldBack<Args extends unknown[]>(write: (...args: Args) => Promise<unknown>) {
  let go: () => void = () => {};
  const until = new Promise((resolve) => {
    go = () => resolve(undefined);
  });
  return {
    write: async (...args: Args) => {
      await until;
      return write(...args);
    },
    go: () => go(),
  };
}

/** Runs all callbacks that are due. */
async function settle() {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('Late samples: committed 5 minutes before their hour closes: written to history; 1 ms earlier: not written to history', async () => {
  path.clock.now = CLOSING - 5 * MINUTE_MS - 1;
  await path.send('timely', samplesOf(HOUR, 3));
  expect(await path.historyOf('timely', HOUR)).toEqual([]);
  expect(await path.statisticsOf('timely', HOUR)).toBeNull();
  expect(path.late.samples).toBe(0);
  path.clock.now = CLOSING - 5 * MINUTE_MS;
  await path.send('device', samplesOf(HOUR, 3));
  expect(await path.historyOf('device', HOUR)).toEqual(samplesOf(HOUR, 3));
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({ readFrom: null, lateAt: path.clock.now });
  expect(path.late.samples).toBe(3);
});

test('Late samples: a message has late hours of several days and a current hour: only the late hours go to history', async () => {
  path.clock.now = CLOSING;
  const hours = [
    Date.UTC(2025, 11, 31, 22),
    Date.UTC(2025, 11, 31, 23),
    Date.UTC(2026, 0, 1),
    HOUR,
    HOUR + HOUR_MS,
  ];
  await path.send(
    'device',
    hours.map((ts) => ({ ts, value: 1 })),
  );
  for (const hour of hours.slice(0, 4)) {
    expect(await path.historyOf('device', hour)).toEqual([{ ts: hour, value: 1 }]);
    expect(await path.statisticsOf('device', hour)).toMatchObject({ lateAt: CLOSING });
  }
  expect(await path.statisticsOf('device', HOUR + HOUR_MS)).toBeNull();
  for (const hour of hours) expect(await path.read('device', hour)).toEqual([{ ts: hour, value: 1 }]);
  expect(path.late.samples).toBe(4);
});

test('Late-day note: samples arrive five minutes before their day is packed again: a note is stored; 1 ms earlier none is', async () => {
  path.clock.now = SETTLING - 5 * MINUTE_MS - 1;
  await path.send('device', samplesOf(HOUR, 3));
  expect(await noticedAt(path.clock.now)).toEqual([]);
  path.clock.now++;
  await path.send('device', samplesOf(HOUR, 3));
  expect(await noticedAt(path.clock.now)).toEqual([DAY]);
});

test('Late samples: their day was already packed a second time: the day is packed once more within two hours', async () => {
  await path.send('device', samplesOf(HOUR, 10));
  path.clock.now = SETTLING + 10 * MINUTE_MS;
  await path.packer().packDue();
  expect(await path.countOf('device', HOUR)).toEqual({ count: 10, source: 'statistics' });
  await path.send('device', samplesOf(HOUR, 10, 10));
  expect(await path.countOf('device', HOUR)).toEqual({ count: 20, source: 'samples' });
  path.clock.now = SETTLING + 2 * HOUR_MS;
  await path.packer().packDue();
  expect(await path.countOf('device', HOUR)).toEqual({ count: 20, source: 'statistics' });
});

/** Notes of one kind, two devices, and the count of writes, which the test may delay or refuse. */
function countedNotes<Notes>(
  table: { write: (...args: never[]) => Promise<unknown> },
  Kind: new (deps: never) => Notes,
  around: (write: () => Promise<unknown>) => Promise<unknown> = (write) => write(),
) {
  const counted = { writes: 0 };
  const store = {
    async write(...args: never[]) {
      counted.writes++;
      await around(() => table.write(...args));
    },
  };
  const retry = { run: (run: () => unknown) => run() };
  const notes = new Kind({ store, retry, clock: { now: () => path.clock.now } } as never);
  const [device, other] = ['device', 'other'].map((name) => {
    const { device: bytes, group } = path.keyOf(name);
    return { bytes, group };
  });
  return { notes, counted, device: device as never, other: other as never };
}

const createDays = (around?: Parameters<typeof countedNotes>[2]) =>
  countedNotes(path.store.write.lateDays, LateDayNotes, around);

const createArrivals = (around?: Parameters<typeof countedNotes>[2]) =>
  countedNotes(path.store.write.lateArrivals, LateArrivalNotes, around);

test('Late-day note: the database refuses the note: the next message writes the note again', async () => {
  let refusals = 1;
  const { notes, device } = createDays(async (write) => {
    if (refusals-- > 0) throw new MillraceError('rejected', 'as a test has it');
    await write();
  });
  path.clock.now = SETTLING;
  await expect(notes.note(device, [HOUR])).rejects.toThrow('as a test has it');
  await notes.note(device, [HOUR]);
  expect(await noticedAt(SETTLING)).toEqual([DAY]);
});

test.each([
  ['1 ms before its hour is closing', -1, []],
  ['when its hour is closing', 0, [DAY]],
])('Late-day note: committed %s: copied to the next hour if its hour closes', async (_, ms, expected) => {
  const { notes, device } = createDays(async (write) => {
    await write();
    path.clock.now = SETTLING + 2 * HOUR_MS - 5 * MINUTE_MS + ms;
  });
  path.clock.now = SETTLING;
  await notes.note(device, [HOUR]);
  expect(await noticedAt(SETTLING)).toEqual([DAY]);
  expect(await noticedAt(SETTLING + HOUR_MS)).toEqual(expected);
});

test('Late-day note: samples reach history only after their day was packed again: a note is stored', async () => {
  const { history } = path.store.write;
  path.clock.now = SETTLING - HOUR_MS;
  const slow = {
    ...history,
    async writeSamples(...args: Parameters<typeof history.writeSamples>) {
      const written = await history.writeSamples(...args);
      path.clock.now = SETTLING + MINUTE_MS;
      return written;
    },
  };
  await path.send('device', samplesOf(HOUR, 3), { overrides: { history: slow } });
  expect(await noticedAt(SETTLING)).toEqual([DAY]);
});

/** @param noticed epoch ms @returns the notes for readers of changes */
async function arrivalsAt(noticed: number): Promise<Array<[bucket: number, since: number]>> {
  const { items } = await path.store.write.lateArrivals.page(path.keyOf('device').group, noticed);
  return items.map(({ bucket, since }) => [bucket, since]);
}

test('Late-arrival note: the note is not committed yet: the message is not acknowledged', async () => {
  const { lateArrivals } = path.store.write;
  const held = heldBack(lateArrivals.write);
  path.clock.now = CLOSING;
  let isAcknowledged = false;
  const overrides = { lateArrivals: { ...lateArrivals, write: held.write as never } };
  const sent = path.send('device', samplesOf(HOUR, 2), { overrides }).then(() => {
    isAcknowledged = true;
  });
  await settle();
  expect(isAcknowledged).toBe(false);
  held.go();
  await sent;
  expect(await arrivalsAt(CLOSING)).toEqual([[HOUR, CLOSING]]);
});

test('Late-arrival note: late hours are reported repeatedly: one note per hour, device, hour of the samples and start time', async () => {
  const { notes, counted, device, other } = createArrivals();
  path.clock.now = CLOSING;
  const time = { began: CLOSING, at: CLOSING };
  await notes.note(device, new Set([HOUR, HOUR - HOUR_MS]), time);
  expect(counted.writes).toBe(2);
  await notes.note(device, new Set([HOUR, HOUR - HOUR_MS]), { began: CLOSING + 1, at: CLOSING + 2 });
  expect(counted.writes).toBe(2);
  await notes.note(device, new Set([HOUR]), { ...time, began: CLOSING - 1 });
  await notes.note(other, new Set([HOUR]), time);
  expect(counted.writes).toBe(4);
  path.clock.now += HOUR_MS;
  await notes.note(device, new Set([HOUR]), { began: CLOSING, at: path.clock.now });
  expect(counted.writes).toBe(5);
  expect(await arrivalsAt(CLOSING + HOUR_MS)).toEqual([[HOUR, CLOSING]]);
});

test.each([
  ['1 ms before its hour is closing', -1, []],
  ['when its hour is closing', 0, [[HOUR, CLOSING]]],
])(
  'Late-arrival note: committed %s: the next hour gets a copy only if the hour of the note is closing',
  async (_, ms, expected) => {
    const committedAt = CLOSING + 2 * HOUR_MS - 5 * MINUTE_MS + ms;
    const { notes, device } = createArrivals(async (write) => {
      await write();
      path.clock.now = committedAt;
    });
    path.clock.now = CLOSING;
    await notes.note(device, new Set([HOUR]), { began: CLOSING, at: CLOSING });
    expect(await arrivalsAt(CLOSING)).toEqual([[HOUR, CLOSING]]);
    expect(await arrivalsAt(CLOSING + HOUR_MS)).toEqual(expected);
  },
);

test('Late-arrival note: the note of the previous hour is committed only in this hour: one note is stored for this hour', async () => {
  let go: () => void = () => {};
  const held = new Promise((resolve) => {
    go = () => resolve(undefined);
  });
  let isFirst = true;
  const { notes, device, other } = createArrivals(async (write) => {
    const waits = isFirst;
    isFirst = false;
    if (waits) await held;
    await write();
  });
  path.clock.now = CLOSING;
  const slow = notes.note(device, new Set([HOUR]), { began: CLOSING, at: CLOSING });
  path.clock.now += HOUR_MS;
  await notes.note(other, new Set([HOUR]), { began: CLOSING, at: path.clock.now });
  go();
  await slow;
  await notes.note(device, new Set([HOUR]), { began: CLOSING, at: path.clock.now });
  const { items } = await path.store.write.lateArrivals.page(path.keyOf('device').group, CLOSING + HOUR_MS);
  expect(items.filter((item) => item.device.equals(path.keyOf('device').device))).toHaveLength(1);
});
