import { expect, test } from '@jest/globals';
import { stampOf } from '../../../api/store/index.ts';
import { createRegistryStore } from '../../../api/store/registry/index.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import { groupOf, type Identity, identifyDevice } from '../../../schema/ids.ts';
import { readRequests } from '../../support/metrics.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

/** How far the clock of the system is ahead, in ms. */
let ahead = 0;
const system = useTestSystem({ clock: () => Date.now() + ahead });
const device = useDevice(system);

/** Moves the clock until the last count is too old, and requests a new one. */
function countAgain() {
  ahead += 10_000;
  return system.get('/fleet');
}

const requests = (statement: string) => readRequests(system, statement);

/** @param types one sensor each */
const register = (name: string, site: string, types: string[]) =>
  device.birth(name, {
    session: Date.now() + ahead,
    site,
    sensors: types.map((type, index) => ({ sensor_id: `s${index}`, type })),
  });

test('Fleet count: devices register, change and retire: the counts by state, type and site follow', async () => {
  await register('one', 'Oslo', ['Pulse', 'Pulse', '__proto__']);
  await register('two', 'Bergen', ['Pulse']);
  await device.status('two', 'offline');
  // This device has no birth, so it has neither type nor site.
  await device.measure('three', [{ sensor_id: 's', ts: Date.now(), value: 1 }]);
  expect(await countAgain()).toEqual({
    devices: { online: 2, offline: 1, not_live: 0 },
    sensors: 5,
    by_type: { Pulse: 3, ['__proto__']: 1 },
    by_site: { Oslo: 3, Bergen: 1 },
  });

  await register('two', 'Oslo', ['Sweat', 'Pulse']);
  await device.measure('one', [{ sensor_id: 'new', ts: Date.now(), value: 1 }]);
  expect(await countAgain()).toMatchObject({
    sensors: 7,
    by_type: { Pulse: 3, Sweat: 1 },
    by_site: { Oslo: 6 },
  });

  expect((await system.fetch('/devices/one', { method: 'DELETE' })).status).toBe(204);
  expect(await countAgain()).toMatchObject({
    // The second device is online again, because its birth arrived after its status offline.
    devices: { online: 2, offline: 0, not_live: 0 },
    sensors: 3,
    by_type: { Pulse: 1, Sweat: 1 },
    by_site: { Oslo: 2 },
  });
});

test('Fleet count: 40 concurrent requests: the devices are counted once, and groups without a change are not read again', async () => {
  await countAgain();
  const [devices, sensors] = [await requests('tally_devices'), await requests('tally_sensors')];
  ahead += 10_000;
  await Promise.all(Array.from({ length: 20 }, () => system.get('/fleet')));
  await Promise.all(Array.from({ length: 20 }, () => system.get('/fleet')));
  expect(await requests('tally_devices')).toBe(devices + 4);
  // A count reads the sensors of one group again, in rotation. The other groups have not changed.
  expect(await requests('tally_sensors')).toBe(sensors + 1);
});

test('Fleet count: sensor was written without the mark that its group changed: counted at the next regular reading of the group', async () => {
  const { bytes } = identifyDevice('three') as Identity;
  const key = { group: groupOf(bytes, 4), bytes };
  const store = createRegistryStore(createSession(await system.openDatabase(), () => {}));
  const now = Date.now();
  const change = {
    bytes: Buffer.alloc(16, 7),
    type: 'Unmarked',
    registeredAt: now,
    writeTimestamp: stampOf(now),
  };
  for (const write of store.sensorWrites(key, [change], now).sensors) await store.commit(write);
  await until(async () => (await countAgain()).by_type.Unmarked === 1);
});
