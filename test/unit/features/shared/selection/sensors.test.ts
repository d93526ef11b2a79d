import { expect, test } from '@jest/globals';
import { selectSensors } from '../../../../../api/features/shared/selection/sensors.ts';
import { longestTurn, MAX_TURN_MS } from '../../../../support/event-loop.ts';

const DEVICE = '00000000-0000-5000-8000-000000000001';

/** A fleet of three pages of 1000 sensors. */
const store = {
  fleet: {
    latestPage: async ({ after: { page = 1 } }: { after: { page?: number } }) => ({
      rows: Array.from({ length: 1000 }, (_, row) => ({
        deviceId: DEVICE,
        id: `00000000-0000-5000-8000-00000000${1000 + row}`,
        name: `s${page}-${row}`,
        ts: Date.now(),
      })),
      next: page < 3 ? { page: page + 1 } : null,
    }),
  },
  devices: { retiredAt: async () => null },
  groups: 1,
} as never;

const select = (options: Partial<Parameters<typeof selectSensors>[2]>) =>
  selectSensors(
    { store },
    { devices: [], sensors: ['s1-7', 's3-9'], site: undefined, type: undefined },
    { limit: 10, to: Date.now(), signal: new AbortController().signal, ...options },
  );

test('Sensor selection: a fleet of 3,000 sensors, and up to 3,000 may be read: the sensors are found by their names', async () => {
  expect((await select({ maxRead: 3000 })).map(({ row }) => row.name)).toEqual(['s1-7', 's3-9']);
});

test('Sensor selection: a fleet of 3,000 sensors, and up to 2,999 may be read: query_too_large with the filter to add', async () => {
  await expect(select({ maxRead: 2999 })).rejects.toMatchObject({
    code: 'query_too_large',
    message: expect.stringMatching(/device, site or type/),
  });
});

test('Sensor selection: a condition takes 1 ms for each sensor: no turn of the event loop over 100 ms', async () => {
  function accepts() {
    for (const end = performance.now() + 1; performance.now() < end; );
    return true;
  }
  const sensors = Array.from({ length: 1000 }, (_, row) => `s1-${row}`);
  const read = () =>
    selectSensors(
      { store },
      { devices: [], sensors, site: undefined, type: undefined },
      { limit: 1000, to: Date.now(), signal: new AbortController().signal, accepts },
    );
  expect(await longestTurn(read)).toBeLessThan(MAX_TURN_MS);
});
