import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import { createFleet, type Fleet } from '../../../api/store/devices/index.ts';
import { stampOf } from '../../../api/store/index.ts';
import { createRegistryStore, type RegistryStore } from '../../../api/store/registry/index.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { useTestSystem } from '../../support/system/use.ts';

const GROUPS = 4;
const DEVICES = 1500;
const SENSORS_PER_DEVICE = 8;

/** The number of devices that a filter finds, with one sensor each. */
const RARE = 10;

const system = useTestSystem({ settings: { LATEST_GROUPS: `${GROUPS}` } });
let read = 0;
let fleet: Fleet;

beforeAll(async () => {
  const database = await system.openDatabase();
  await fill(createRegistryStore(createSession(database, () => {})));
  const counting = {
    async execute(...args: Parameters<typeof database.execute>) {
      const page = await database.execute(...args);
      read += page.rows.length;
      return page;
    },
  } as unknown as Client;
  const session = createSession(counting, () => {});
  fleet = createFleet({ session, groups: GROUPS, clock: Date.now, onStaleIndex: () => {} });
}, 180_000);

/** Every 150th device has a rare site, and its first sensor a rare type and name. */
async function fill(store: RegistryStore) {
  const now = Date.now();
  const stamp = stampOf(now);
  for (let from = 0; from < DEVICES; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => addDevice(from + index)));
  }

  async function addDevice(d: number) {
    const { id, bytes } = identifyDevice(`d${d}`) as Identity;
    const key = { group: groupOf(bytes, GROUPS), bytes };
    const isRare = d % (DEVICES / RARE) === 0;
    const site = isRare ? 'rare' : 'usual';
    await store.indexDevice(key, site, now, stamp);
    await store.writeDevice(key, { name: `d${d}`, site, registeredAt: now }, stamp);
    await store.writeStatus(key, { state: isRare ? 'offline' : 'online' }, stamp);
    const changes = Array.from({ length: SENSORS_PER_DEVICE }, (_, s) => ({
      bytes: (identifySensor(id, `s${s}`) as SensorIdentity).bytes,
      name: isRare && s === 0 ? 'rare' : `s${s}`,
      type: isRare && s === 0 ? 'rare' : 'usual',
      site,
      registeredAt: now,
      writeTimestamp: stamp,
    }));
    const { indexes, sensors: rows } = store.sensorWrites(key, changes, now);
    for (const write of [...indexes, ...rows]) await store.commit(write);
  }
}

/** @returns `maxRows`: the highest number of rows read for a page */
async function readPages<Position = never>(
  page: (after: Position) => Promise<{ rows: unknown[]; next: unknown }>,
): Promise<{ pages: number; items: number; maxRows: number }> {
  let after: unknown = null;
  let pages = 0;
  let items = 0;
  let maxRows = 0;
  do {
    read = 0;
    const { rows, next } = await page(after as Position);
    maxRows = Math.max(maxRows, read);
    items += rows.length;
    pages++;
    after = next;
  } while (after);
  return { pages, items, maxRows };
}

test('Database rows of a request: list of all devices or sensors: no more rows than items in the page', async () => {
  const read = await readPages((after) => fleet.latestPage({ filter: {}, after, limit: 1000 }));
  expect(read).toMatchObject({ items: DEVICES * SENSORS_PER_DEVICE, maxRows: 1000 });
  expect(await readPages((after) => fleet.devicePage({ accept: null, after, limit: 100 }))).toMatchObject({
    items: DEVICES,
    maxRows: 100,
  });
});

// Each sensor reads one row of the index, and one of latest.
test.each([{ type: 'rare' }, { name: 'rare' }, { name: 'ra' }])(
  'Database rows of a request: filter %j matches 10 of 12,000 sensors: 20 rows',
  async (filter) => {
    const found = await readPages((after) => fleet.latestPage({ filter, after, limit: 100 }));
    expect(found).toEqual({ pages: 1, items: RARE, maxRows: 2 * RARE });
  },
);

test.each([
  { type: 'rare', name: 'r' },
  { type: 'usual', name: 'rare' },
  { type: 'rare', site: 'rare', name: 'rare' },
])('Database rows of a request: filters %j: only the index with fewer rows is read', async (filter) => {
  const found = await readPages((after) => fleet.latestPage({ filter, after, limit: 100 }));
  expect(found).toEqual({ pages: 1, items: filter.type === 'rare' ? RARE : 0, maxRows: 2 * RARE });
});

test('Database rows of a request: one filter matches all sensors, the other few: at most 1,000 index rows in a page', async () => {
  const filter = { type: 'rare', name: 's' };
  const none = await readPages((after) => fleet.latestPage({ filter, after, limit: 100 }));
  expect(none.items).toBe(0);
  expect(none.maxRows).toBeLessThanOrEqual(2 * 1000);
  expect(none.pages).toBeGreaterThan(5);
  const site = { type: 'rare', site: 'rare' };
  const few = await readPages((after) => fleet.latestPage({ filter: site, after, limit: 100 }));
  expect(few).toEqual({ pages: 1, items: RARE, maxRows: 2 * RARE * SENSORS_PER_DEVICE });
});

test('Database rows of a request: devices of a site: 20 rows for 10 devices', async () => {
  const found = await readPages((after) =>
    fleet.devicePage({ site: 'rare', accept: null, after, limit: 100 }),
  );
  expect(found).toEqual({ pages: 1, items: RARE, maxRows: 2 * RARE });
  const offline = await readPages((after) =>
    fleet.devicePage({ site: 'rare', accept: ({ state }) => state === 'offline', after, limit: 100 }),
  );
  expect(offline).toEqual({ pages: 1, items: RARE, maxRows: 2 * RARE });
});

test('Database rows of a request: devices of a state: at most 1,000 rows in a page', async () => {
  const found = await readPages((after) =>
    fleet.devicePage({ accept: ({ state }) => state === 'offline', after, limit: 100 }),
  );
  expect(found).toMatchObject({ pages: 2, items: RARE });
  expect(found.maxRows).toBeLessThanOrEqual(1000);
});
