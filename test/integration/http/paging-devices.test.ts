import { beforeAll, describe, expect, test } from '@jest/globals';
import { pagesOf } from '../../support/http/pages.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const DEVICES = 12;

/** Every third device is offline, every second one in Oslo. */
const FLEET = Array.from({ length: DEVICES }, (_, d) => ({
  name: `gate-${d}`,
  site: d % 2 === 0 ? 'Oslo' : 'Bergen',
  state: (d % 3 === 0 ? 'offline' : 'online') as 'online' | 'offline',
}));

/** How far the clock of the system is ahead, in ms. */
const ahead = 0;
const system = useTestSystem({ clock: () => Date.now() + ahead });
const device = useDevice(system);
beforeAll(async () => {
  for (const { name, site, state } of FLEET) {
    await device.birth(name, { site, sensors: [{ sensor_id: 'lock' }] });
    await device.status(name, state);
  }
});

const FILTERS: Array<{ state?: 'online' | 'offline'; site?: string; name?: string }> = [
  {},
  { state: 'online' },
  { state: 'offline' },
  { site: 'Oslo' },
  { state: 'offline', site: 'Bergen' },
  { name: 'gate-1' },
  { name: 'gate-', state: 'offline' },
  { name: 'gate-1', site: 'Bergen', state: 'online' },
  { name: 'ate' },
  { name: 'Gate' },
];

describe.each(FILTERS.map((filter) => ({ filter })))('GET /devices with the filter $filter', ({ filter }) => {
  const expected = FLEET.filter(
    ({ name, state, site }) =>
      (!filter.state || filter.state === state) &&
      (!filter.site || filter.site === site) &&
      (!filter.name || name.startsWith(filter.name)),
  );

  test.each([1, (expected.length + 1) / 2, expected.length || 1, expected.length + 1, 1000].map(Math.ceil))(
    'Pages of GET /devices: limit %i: each device that matches the filter is listed once',
    async (limit) => {
      const pages = await pagesOf(
        system,
        `/devices?${new URLSearchParams({ ...filter, limit: `${limit}` })}`,
      );
      for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
      const items = pages.flat();
      expect(items.map(({ name }) => name).sort()).toEqual(expected.map(({ name }) => name).sort());
      for (const { name, online, site } of items) {
        const known = FLEET.find((one) => one.name === name);
        expect({ online, site }).toEqual({ online: known?.state === 'online', site: known?.site });
      }
    },
  );
});
