import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectProblem, send } from '../../support/http/index.ts';
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

async function expectRefused(path: string, cursor: string) {
  const answer = await send(system.httpUrl, `/api/v1${withCursor(path, cursor)}`);
  const { detail } = expectProblem(answer, 400, 'bad_cursor');
  expect(detail).toMatch(/start again without a cursor/);
  return detail;
}

const raw = (device: string, sensor = 's', query = '') =>
  `/devices/${device}/sensors/${sensor}/measurements?limit=1${query}`;

const LISTINGS = [
  '/latest?limit=1',
  '/latest?limit=1&type=Pulse',
  '/latest?limit=1&site=Oslo',
  '/latest?limit=1&site=Oslo&type=Pulse',
  '/latest?limit=1&name=s',
  '/latest?limit=1&device=a',
  '/latest?limit=1&device=b',
  '/devices?limit=1',
  '/devices?limit=1&site=Oslo',
  '/devices?limit=1&state=online',
  '/devices?limit=1&name=cow',
  raw('a'),
  raw('b'),
  raw('a', 't'),
  raw('a', 's', `&order=asc&from=${FROM - HOUR}`),
  raw('a', 's', `&from=${FROM}`),
  raw('a', 's', `&from=${FROM}&to=${FROM + HOUR}`),
];

test('Paging cursor: used on another listing: refused', async () => {
  for (const path of LISTINGS) {
    const cursor = await cursorOf(path);
    expect((await system.get(withCursor(path, cursor))).items).toHaveLength(1);
    for (const other of LISTINGS) if (other !== path) await expectRefused(other, cursor);
  }
});

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

test.each([
  ['the secret that was kept in DATA_DIR', {}],
  ['CURSOR_SECRET', { CURSOR_SECRET: 'a secret of thirty-two characters' }],
])('Paging cursor: process restarts with the same secret, %s: still valid', async (_, settings) => {
  const own = await mkdtemp(join(tmpdir(), 'millrace-cursors-'));
  const keyspace = system.config.cql.keyspace;
  const start = (more: Record<string, string>) =>
    startTestSystem({ settings: { CQL_KEYSPACE: keyspace, DATA_DIR: own, ...settings, ...more } });
  const before = await start({});
  const { next } = await before.get('/latest?limit=1').finally(before.halt);
  const after = await start({});
  try {
    expect((await after.get(withCursor('/latest?limit=1', next))).items).toHaveLength(1);
  } finally {
    await after.halt();
  }
  const other = await start({ CURSOR_SECRET: 'quite another one, as long as it' });
  try {
    const answer = await send(other.httpUrl, `/api/v1${withCursor('/latest?limit=1', next)}`);
    expectProblem(answer, 400, 'bad_cursor');
  } finally {
    await other.halt();
    await rm(own, { recursive: true, force: true });
  }
});
