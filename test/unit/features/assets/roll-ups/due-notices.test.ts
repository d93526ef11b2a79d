import { expect, test } from '@jest/globals';
import { BUCKET_MS, DueNotices, readingOf } from '../../../../../api/features/assets/roll-ups/due-notices.ts';
import { type Identity, identifyDevice } from '../../../../../schema/ids.ts';

const MINUTE_MS = 60_000;
const BUCKET = Date.UTC(2026, 4, 5, 12);
const placed = identifyDevice('placed') as Identity;
const other = identifyDevice('other') as Identity;

/** @param commitMs of each write, one after the other */
function createNotices(commitMs: number[]) {
  const clock = { now: BUCKET + 9 * MINUTE_MS };
  const written: Array<{ group: number; bucket: number; devices: Buffer[] }> = [];
  let refreshed = 0;
  const notices = new DueNotices({
    tree: { assetsAt: (device) => new Set(device === placed.id ? ['asset'] : []) },
    refresh: async () => void refreshed++,
    store: {
      async writeDue(group, bucket, hours) {
        written.push({ group, bucket, devices: hours.map(({ device }) => device) });
        clock.now += commitMs.shift() ?? 0;
      },
    },
    clock: { now: () => clock.now },
    run: (request) => request(),
  });
  const note = (...devices: Identity[]) =>
    notices.note(devices.map(({ bytes }) => ({ group: 3, device: bytes, hour: BUCKET, sensors: [] })));
  return { note, written, refreshed: () => refreshed };
}

test('Notices of packed hours: one device has a place, another has none: one notice, after the tree was read', async () => {
  const { note, written, refreshed } = createNotices([]);
  await note(other, placed);
  expect(written).toEqual([{ group: 3, bucket: BUCKET, devices: [placed.bytes] }]);
  expect(refreshed()).toBe(2);
});

test('Notices of packed hours: the commit takes so long that the bucket may have been read: it is written again', async () => {
  const slow = createNotices([4 * MINUTE_MS, 0]);
  await slow.note(placed);
  expect(slow.written.map(({ bucket }) => bucket)).toEqual([BUCKET, BUCKET + BUCKET_MS]);
  const quick = createNotices([3 * MINUTE_MS]);
  await quick.note(placed);
  expect(quick.written).toHaveLength(1);
  // Two clocks differ by two minutes at most.
  expect(readingOf(BUCKET)).toBeGreaterThan(BUCKET + 12 * MINUTE_MS + 2 * MINUTE_MS);
});
