import { expect, test } from '@jest/globals';
import { createEventStore } from '../../../api/store/events.ts';
import { createSession } from '../../../api/store/sending/session.ts';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import { pagesOf } from '../../support/http/pages.ts';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const SECOND_MS = 1000;

let now = Date.now();
const system = useTestSystem({ clock: () => now, settings: { HISTORY_DAYS: '3650' } });
const client = useDevice(system);

const iso = (ms: number) => new Date(ms).toISOString();

test('Device events: births and statuses, some sent twice: each is listed once, newest first', async () => {
  const first = now - 60 * SECOND_MS;
  const second = now - 30 * SECOND_MS;
  for (const session of [first, second]) {
    for (let times = 0; times < 2; times++) {
      await client.send('door', 'birth', { session, sensors: [{ sensor_id: 's' }] });
      await client.send('door', 'status', { state: 'online', session });
    }
    await client.send('door', 'status', { state: 'offline', session });
    now += SECOND_MS;
    await client.send('door', 'status', { state: 'offline', session });
  }
  // A late last will of an old session changes nothing.
  await client.send('door', 'status', { state: 'offline', session: first });
  expect((await system.get('/devices/door/events')).items).toEqual([
    { ts: iso(now - SECOND_MS), kind: 'offline' },
    { ts: iso(second), kind: 'online' },
    { ts: iso(second), kind: 'birth' },
    { ts: iso(now - 2 * SECOND_MS), kind: 'offline' },
    { ts: iso(first), kind: 'online' },
    { ts: iso(first), kind: 'birth' },
  ]);
  const { rows } = await system.execute('SELECT * FROM device_event');
  expect(rows).toHaveLength(6);
});

test('Device events: two processes write the same event: one event is listed', async () => {
  const other = await system.openStore();
  const { bytes } = identifyDevice('twin') as Identity;
  const event = { session: now, kind: 'birth' as const, ts: now };
  await client.send('twin', 'birth', { session: now, sensors: [] });
  await other.events.write(bytes, event);
  expect((await system.get('/devices/twin/events')).items).toEqual([{ ts: iso(now), kind: 'birth' }]);
});

/** The years of the sessions, with an empty year between them. Each session ends after ten seconds, the last of a year in the next year. */
const YEARS = [2022, 2023, 2025, 2026];
/** newest first */
const LONG: Array<{ session: number; kind: 'birth' | 'online' | 'offline'; ts: number }> = YEARS.flatMap(
  (year) => [1, 4, 7].map((month) => Date.UTC(year, month, 1)).concat(Date.UTC(year, 11, 31, 23, 59, 55)),
)
  .flatMap((session) => [
    { session, kind: 'birth' as const, ts: session },
    { session, kind: 'online' as const, ts: session },
    { session, kind: 'offline' as const, ts: session + 10 * SECOND_MS },
  ])
  .reverse();

test('Device events: spread over several years: pages have every event once, and a range includes its start and excludes its end', async () => {
  const identity = identifyDevice('old') as Identity;
  await client.send('old', 'measurements', { sensor_id: 's', ts: now, value: 1 });
  const store = createEventStore(createSession(await system.openDatabase(), () => {}));
  for (const event of LONG) await store.write(identity.bytes, event);
  const items = (events: typeof LONG) => events.map(({ ts, kind }) => ({ ts: iso(ts), kind }));
  now = Math.max(now, Date.UTC(2027, 0, 1, 1));
  for (const limit of [1, 7, 48]) {
    const pages = await pagesOf(system, `/devices/old/events?limit=${limit}`);
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
    expect(pages.flat()).toEqual(items(LONG));
  }
  const ends = LONG.flatMap(({ ts }) => [ts, ts + 1]).filter((_, index) => index % 13 < 2);
  for (const from of ends) {
    for (const to of ends.filter((end) => end >= from)) {
      const path = `/devices/old/events?from=${from}&to=${to}`;
      const expected = LONG.filter(({ ts }) => ts >= from && ts < to);
      expect({ path, items: await system.all(path) }).toEqual({ path, items: items(expected) });
    }
  }
});
