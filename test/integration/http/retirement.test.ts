import { expect, test } from '@jest/globals';
import { createRetirementStore } from '../../../api/store/registry/retirement.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import { groupOf, type Identity, identifyDevice } from '../../../schema/ids.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
const device = useDevice(system);

const retire = (name: string) =>
  send(system.httpUrl, `/api/v1/devices/${encodeURIComponent(name)}`, { method: 'DELETE' });

const sensors = (word: string) => [
  { sensor_id: 'a', name: `${word} a`, type: word },
  { sensor_id: 'b', name: `${word} b`, type: word, unit: 'C', interval_ms: 1000 },
];

const TABLES = ['device_by_site', 'sensor', 'latest', 'sensor_by_type', 'sensor_by_site', 'sensor_by_name'];

async function rowsOf(id: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of TABLES) {
    const { rows } = await system.execute(`SELECT device_id FROM ${table}`);
    found[table] = rows.filter((row) => String(row['device_id']) === id).length;
  }
  return found;
}

const foundBy = async (word: string) => ({
  devices: (await system.all('/devices')).filter(({ name }) => name === word).length,
  bySite: (await system.all(`/devices?site=${word}`)).length,
  latest: (await system.all('/latest')).filter((item) => item.device === word).length,
  byType: (await system.all(`/latest?type=${word}`)).length,
  bySensorSite: (await system.all(`/latest?site=${word}`)).length,
  byName: (await system.all(`/latest?name=${word}`)).length,
});

const NOTHING = { devices: 0, bySite: 0, latest: 0, byType: 0, bySensorSite: 0, byName: 0 };
const ALL = { devices: 1, bySite: 1, latest: 2, byType: 2, bySensorSite: 2, byName: 2 };

async function register(word: string, more?: object) {
  await device.birth(word, { name: word, site: word, sensors: sensors(word), ...more });
  await device.status(word, 'online');
  await device.measure(word, [{ sensor_id: 'a', ts: Date.now() - 1000, value: 1 }]);
}

test('Device retirement: device has samples: no listing or index has the device; its samples stay until they expire', async () => {
  await register('gone');
  expect(await foundBy('gone')).toEqual(ALL);
  const { device_id: id } = await system.get('/devices/gone');

  expect(await retire('gone')).toMatchObject({ status: 204, text: '' });
  expect(await foundBy('gone')).toEqual(NOTHING);
  expect(await rowsOf(id)).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])));
  for (const path of ['', '/events', '/sensors/a', '/sensors/a/measurements']) {
    expectProblem(await send(system.httpUrl, `/api/v1/devices/gone${path}`), 404, 'not_found');
  }
  const { rows } = await system.execute('SELECT device_id FROM message');
  expect(rows.map((row) => String(row['device_id']))).toContain(id);
  expectProblem(await retire('gone'), 404, 'not_found');
});

test('Device retirement: measurement arrives afterwards: the device is registered; a later birth adds name, site and type', async () => {
  const session = Date.now() - 5_000;
  await register('zz-first', { session, name: 'zz-first', site: 'zz-first' });
  await retire('zz-first');
  const ts = Date.now();
  await device.measure('zz-first', [{ sensor_id: 'a', ts, value: 7 }]);
  const back = await system.get('/devices/zz-first');
  expect(back).toMatchObject({ name: 'zz-first', site: null, online: true });
  expect(back.sensors).toEqual([
    expect.objectContaining({ name: 'a', type: null, value: 7, ts: new Date(ts).toISOString() }),
  ]);
  // The birth takes effect, although its session is older than the retirement and its words sort lower.
  await device.birth('zz-first', { session, name: 'Aa', site: 'Aa', sensors: sensors('Aa') });
  expect(await foundBy('Aa')).toEqual(ALL);
});

test('Device retirement: stops after any database request: the next DELETE completes the retirement', async () => {
  const database = await system.openDatabase();
  for (let requests = 0, finished = false; !finished; requests++) {
    const word = `half-${requests}`;
    await register(word);
    const { bytes } = identifyDevice(word) as Identity;
    let left = requests;
    const gate = {
      enter: () => (left-- > 0 ? undefined : Promise.reject(new Error('broken off'))),
      leave: () => {},
      cancel: () => {},
    };
    const breaking = createSession(database, () => {}, { gate });
    const retired = createRetirementStore(breaking).retire({ group: groupOf(bytes, 4), bytes }, Date.now());
    finished = await retired.catch(() => false);
    if (!finished) expect((await retire(word)).status).toBe(204);
    expect(await foundBy(word)).toEqual(NOTHING);
    expect((await retire(word)).status).toBe(404);
    if (finished) expect(requests).toBeGreaterThan(5);
  }
});
