import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { withCursor } from '../../support/http/pages.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';

const HOUR = 3_600_000;
const FROM = Date.now() - HOUR;

/** How far the clock of the system is ahead, in ms. */
const ahead = 0;
const clock = () => Date.now() + ahead;

let system: TestSystem;
/** the data directory of the system */
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millrace-cursors-'));
  system = await startTestSystem({ clock, settings: { DATA_DIR: dataDir } });
  const device = await connectDevice(system);
  for (const name of ['a', 'b', 'c']) {
    const sensors = ['s', 't'].map((sensor_id) => ({ sensor_id, type: 'Pulse' }));
    await device.birth(name, { name: `cow-${name}`, site: 'Oslo', sensors });
    const samples = [0, 1, 2].map((value) => ({ sensor_id: 's', ts: FROM + value, value }));
    await device.measure(name, [...samples, ...samples.map((sample) => ({ ...sample, sensor_id: 't' }))]);
  }
  await device.end();
});
afterAll(async () => {
  await system?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function cursorOf(path: string): Promise<string> {
  const { next } = await system.get(path);
  if (typeof next !== 'string') throw new Error(`${path} has no second page`);
  return next;
}

const raw = (device: string, sensor = 's', query = '') =>
  `/devices/${device}/sensors/${sensor}/measurements?limit=1${query}`;

test('Paging cursor: next page has another limit, or another spelling of the same time: valid', async () => {
  const cursor = await cursorOf('/latest?limit=1');
  expect((await system.get(withCursor('/latest?limit=9', cursor))).items).toHaveLength(5);
  const page = await cursorOf(raw('a', 's', `&from=${FROM}`));
  const spelt = raw('a', 's', `&from=${new Date(FROM).toISOString()}`);
  expect((await system.get(withCursor(spelt, page))).items).toHaveLength(1);
});

test('Paging cursor: device is given by name on one page, and by id on the next: valid', async () => {
  const { device_id } = await system.get('/devices/a');
  const cursor = await cursorOf('/latest?limit=1&device=a');
  expect((await system.get(withCursor(`/latest?limit=1&device=${device_id}`, cursor))).items).toHaveLength(1);
});
