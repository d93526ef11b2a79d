import { expect, test } from '@jest/globals';
import { createRefusedDevices } from '../../../../api/features/dead-letters/refused-devices.ts';
import type { RefusedCount } from '../../../../api/features/dead-letters/store.ts';
import { identifyDevice } from '../../../../schema/ids.ts';

const NOW = Date.UTC(2026, 10, 23, 3);
const id = identifyDevice('my-desk')?.id ?? '';

function start(counts: Array<[device: string, count: RefusedCount]>) {
  const state = { now: 0, reads: 0, takesMs: 0, fails: false };
  const refusedDevices = createRefusedDevices({
    async count() {
      state.reads++;
      state.now += state.takesMs;
      if (state.fails) throw new Error('unavailable');
      return new Map(counts);
    },
    summarize: async ({ from }) => ({
      hours: [1, 4].map((deadLetters, hour) => ({ hour: NOW - hour, deadLetters, codes: {} })),
      from,
    }),
    clock: () => NOW,
    monotonic: () => state.now,
  });
  return { state, refusedDevices };
}

test('List of refused devices: topics by name and by id of one device: one item with the sum, invalid names are left out', async () => {
  const { refusedDevices } = start([
    ['other', { refused: 2, newest: NOW - 1000 }],
    [id, { refused: 4, newest: NOW - 3000 }],
    ['my-desk', { refused: 2, newest: NOW - 2000 }],
    ['\u0000', { refused: 9, newest: NOW }],
  ]);
  expect(await refusedDevices.read()).toEqual({
    items: [
      { device_id: id, device: 'my-desk', refused: 6, newest: new Date(NOW - 2000).toISOString() },
      {
        device_id: identifyDevice('other')?.id,
        device: 'other',
        refused: 2,
        newest: new Date(NOW - 1000).toISOString(),
      },
    ],
    dead_letters: 5,
    from: new Date(NOW - 300_000).toISOString(),
    to: new Date(NOW).toISOString(),
  });
});
