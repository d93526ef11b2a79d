import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createFleet } from '../../../api/store/devices/index.js';
import { createRegistryStore } from '../../../api/store/registry/index.js';
import { createSession } from '../../../api/store/session.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { startTestSystem } from '../../support/system.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Fleet } from '../../../api/store/devices/index.js' */
/** @import { RegistryStore } from '../../../api/store/registry/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { TestSystem } from '../../support/system.js' */

const GROUPS = 4;
const DEVICES = 1500;
const SENSORS_PER_DEVICE = 8;

/** How many devices, and sensors, are what is looked for: one sensor of each of these devices. */
const RARE = 10;

/** @type {TestSystem} */
let system;
/** @type {Awaited<ReturnType<TestSystem['openDatabase']>>} */
let database;
/** Rows that the database has answered with. */
let read = 0;
/** @type {Fleet} */
let fleet;

beforeAll(async () => {
  system = await startTestSystem({ settings: { LATEST_GROUPS: `${GROUPS}` } });
  database = await system.openDatabase();
  await fill(createRegistryStore(createSession(database, () => {})));
  const counting = /** @type {Client} */ (
    /** @type {unknown} */ ({
      /** @param {Parameters<typeof database.execute>} given */
      async execute(...given) {
        const page = await database.execute(...given);
        read += page.rows.length;
        return page;
      },
    })
  );
  const session = createSession(counting, () => {});
  fleet = createFleet({ session, groups: GROUPS, clock: Date.now, onStaleIndex: () => {} });
}, 180_000);
afterAll(async () => {
  await database?.shutdown();
  await system?.stop();
});

/** Every 150th device is of a site of its own, and its first sensor of a type and a name of their own. @param {RegistryStore} store */
async function fill(store) {
  const now = Date.now();
  const stamp = now * 1000;
  for (let from = 0; from < DEVICES; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => one(from + at)));
  }

  /** @param {number} d */
  async function one(d) {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(`d${d}`));
    const key = { group: groupOf(bytes, GROUPS), bytes };
    const isRare = d % (DEVICES / RARE) === 0;
    const site = isRare ? 'rare' : 'usual';
    await store.indexDevice(key, site, now, stamp);
    await store.writeDevice(key, { name: `d${d}`, site, registeredAt: now }, stamp);
    await store.writeStatus(key, isRare ? 'offline' : 'online', stamp);
    const changes = Array.from({ length: SENSORS_PER_DEVICE }, (_, s) => ({
      bytes: /** @type {Identity} */ (identifySensor(id, `s${s}`)).bytes,
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

/**
 * @param {(after: any) => Promise<{ rows: unknown[], next: unknown }>} page
 * @returns {Promise<{ pages: number, items: number, most: number }>} `most`: rows read for one page
 */
async function walk(page) {
  let after = null;
  let pages = 0;
  let items = 0;
  let most = 0;
  do {
    read = 0;
    const { rows, next } = await page(after);
    most = Math.max(most, read);
    items += rows.length;
    pages++;
    after = next;
  } while (after);
  return { pages, items, most };
}

test('a page of the whole fleet reads what it answers', async () => {
  const read = await walk((after) => fleet.latestPage({ filter: {}, after, limit: 1000 }));
  expect(read).toMatchObject({ items: DEVICES * SENSORS_PER_DEVICE, most: 1000 });
  expect(await walk((after) => fleet.devicePage({ accept: null, after, limit: 100 }))).toMatchObject({
    items: DEVICES,
    most: 100,
  });
});

// One row of the index, and one of latest.
test.each([{ type: 'rare' }, { name: 'rare' }, { name: 'ra' }])(
  '10 sensors of many: %j reads 20 rows',
  async (filter) => {
    const found = await walk((after) => fleet.latestPage({ filter, after, limit: 100 }));
    expect(found).toEqual({ pages: 1, items: RARE, most: 2 * RARE });
  },
);

test.each([
  { type: 'rare', name: 'r' },
  { type: 'usual', name: 'rare' },
  { type: 'rare', site: 'rare', name: 'rare' },
])('%j together: the narrower index is read', async (filter) => {
  const found = await walk((after) => fleet.latestPage({ filter, after, limit: 100 }));
  expect(found).toEqual({ pages: 1, items: filter.type === 'rare' ? RARE : 0, most: 2 * RARE });
});

test('all have the one, few the other: a page looks at 1,000 at most', async () => {
  const filter = { type: 'rare', name: 's' };
  const none = await walk((after) => fleet.latestPage({ filter, after, limit: 100 }));
  expect(none.items).toBe(0);
  expect(none.most).toBeLessThanOrEqual(2 * 1000);
  expect(none.pages).toBeGreaterThan(5);
  const site = { type: 'rare', site: 'rare' };
  const few = await walk((after) => fleet.latestPage({ filter: site, after, limit: 100 }));
  expect(few).toEqual({ pages: 1, items: RARE, most: 2 * RARE * SENSORS_PER_DEVICE });
});

test('the devices of a site are read by its index', async () => {
  const found = await walk((after) => fleet.devicePage({ site: 'rare', accept: null, after, limit: 100 }));
  expect(found).toEqual({ pages: 1, items: RARE, most: 2 * RARE });
  const offline = await walk((after) =>
    fleet.devicePage({ site: 'rare', accept: ({ state }) => state === 'offline', after, limit: 100 }),
  );
  expect(offline).toEqual({ pages: 1, items: RARE, most: 2 * RARE });
});

test('the devices of a state are looked for, 1,000 a page at most', async () => {
  const found = await walk((after) =>
    fleet.devicePage({ accept: ({ state }) => state === 'offline', after, limit: 100 }),
  );
  expect(found).toMatchObject({ pages: 2, items: RARE });
  expect(found.most).toBeLessThanOrEqual(1000);
});
