import { expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';
import { until } from '../../support/until.ts';

const CLOSING = HOUR + 2 * HOUR_MS;
/** A day after the last hour of the UTC day has closed. */
const SETTLING = Date.UTC(2026, 4, 7, 1);

const path = useMemoryPath();

/** The group of the device of these tests. */
const groupOf = () => path.keyOf('device').group;
const progress = () => path.store.packProgress.read(groupOf());

/** A store whose `blockPage` waits while `isHeld` is set. */
function createHeldStore() {
  const { packing, packProgress } = path.store;
  const state = { isHeld: false, reads: 0, release: () => {} };
  return {
    state,
    store: {
      packProgress,
      packing: {
        ...packing,
        async blockPage(...args: Parameters<typeof packing.blockPage>) {
          if (state.isHeld) {
            state.reads++;
            await new Promise((resolve) => {
              state.release = () => resolve(undefined);
            });
          }
          return packing.blockPage(...args);
        },
      },
    },
  };
}

test('History packer: the second pass over a day is still running: settled_until is not moved forward yet', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  await path.packer().packDue();
  path.clock.now = CLOSING + 60_000;
  await path.send('device', samplesOf(HOUR, 5, 20));
  path.clock.now = SETTLING - 1;
  await path.packer().packDue();
  const before = (await progress()).settledUntil;
  path.clock.now = SETTLING;
  const { store, state } = createHeldStore();
  state.isHeld = true;
  const packing = path.packer({ store }).packDue();
  await until(() => state.reads > 0, { what: 'the second pass' });
  expect((await progress()).settledUntil).toBe(before);
  state.isHeld = false;
  state.release();
  await packing;
  expect((await progress()).settledUntil).toBeGreaterThan(before);
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({ statistics: { count: 25 } });
});

test('History packer: a day with late samples is packed: noticed_until moves forward, and the day is not packed again', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = SETTLING + DAY_MS;
  await path.packer().packDue();
  await path.send('device', samplesOf(HOUR, 5, 20));
  const noted = (await progress()).noticedUntil;
  path.clock.now += 3 * HOUR_MS;
  await path.packer().packDue();
  expect(await path.statisticsOf('device', HOUR)).toMatchObject({ statistics: { count: 25 } });
  expect((await progress()).noticedUntil).toBeGreaterThan(noted);
  let pages = 0;
  const { packing, packProgress } = path.store;
  const counting = {
    ...packing,
    lateDayPage(...args: Parameters<typeof packing.lateDayPage>): ReturnType<typeof packing.lateDayPage> {
      pages++;
      return packing.lateDayPage(...args);
    },
  };
  await path.packer({ store: { packing: counting, packProgress } }).packDue();
  expect(pages).toBe(0);
});

test('History packer: the machine sleeps right after the last hour of a day is packed: the second pass includes that day', async () => {
  const end = Date.UTC(2026, 4, 6);
  const { packing, packProgress } = path.store;
  // Readings of the clock before the process sleeps: one more, to find that no further hour is due.
  let readings = Number.POSITIVE_INFINITY;
  const clock = () => (readings-- > 0 ? end + HOUR_MS : SETTLING);
  const watched = {
    ...packProgress,
    async writePacked(...[group, until]: Parameters<typeof packProgress.writePacked>) {
      await packProgress.writePacked(group, until);
      if (until === end) readings = 1;
    },
  };
  await path.packer({ store: { packing, packProgress: watched }, groups: 1, clock }).packDue();
  expect(await packProgress.read(0)).toMatchObject({ packedUntil: end, settledUntil: end });
});
