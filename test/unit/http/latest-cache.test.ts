import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LatestCache } from '../../../api/http/stream/latest-cache.ts';
import type { LiveItem } from '../../../api/live/messages.ts';

/** @param ts epoch ms */
const itemOf = (sensor: number, ts: number): LiveItem => ({
  device_id: 'd',
  sensor_id: `s${sensor}`,
  device: null,
  name: null,
  type: null,
  unit: null,
  site: null,
  ts: new Date(ts).toISOString(),
  value: ts,
});

const SENSORS = 4;

/**
 * A step: a sensor gets a newer value (its message arrives or is lost), the page of a resync is requested or arrives,
 * readers get the changes, or a reader disconnects or returns.
 */
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant('commit' as const), sensor: fc.nat(SENSORS - 1), arrives: fc.boolean() }),
  fc.constant({ kind: 'again' as const }),
  fc.record({ kind: fc.constant('retire' as const), sensor: fc.nat(SENSORS - 1) }),
  fc.constant({ kind: 'begin' as const }),
  fc.record({ kind: fc.constant('page' as const), half: fc.nat(1) }),
  fc.constant({ kind: 'send' as const }),
  fc.constant({ kind: 'away' as const }),
);

test('Latest cache: lost, late and repeated messages: after a resync every reader has the values of the database', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const cache = new LatestCache();
      const database: Map<string, LiveItem> = new Map();
      const readers = [0, 1].map(() => ({ position: 0, away: false, state: new Map() }));
      let clock = 0;
      let last: LiveItem | undefined;
      let page: { since: number; rows: LiveItem[] } | undefined;

      const sendChanges = () => {
        for (const reader of readers) {
          if (reader.away) continue;
          for (const { item } of cache.since(reader.position)) reader.state.set(item.sensor_id, { ...item });
          reader.position = cache.position;
        }
        cache.markSent();
      };
      const begin = () => {
        cache.beginResync();
        page = { since: cache.position, rows: [...database.values()].map((item) => ({ ...item })) };
      };
      const takePage = () => {
        if (!page) return;
        for (const item of page.rows) cache.refresh(item, page.since);
        cache.endResync(page.since);
        page = undefined;
      };

      for (const step of steps) {
        if (step.kind === 'commit') {
          last = itemOf(step.sensor, ++clock);
          database.set(last.sensor_id, last);
          if (step.arrives) cache.update(last, clock);
        } else if (step.kind === 'again' && last && database.has(last.sensor_id)) cache.update(last, clock);
        else if (step.kind === 'retire') database.delete(`s${step.sensor}`);
        else if (step.kind === 'begin' && !page) begin();
        else if (step.kind === 'page') takePage();
        else if (step.kind === 'send') sendChanges();
        else if (step.kind === 'away' && readers[1]) readers[1].away = !readers[1].away;
      }
      takePage();
      begin();
      takePage();
      for (const reader of readers) reader.away = false;
      sendChanges();
      const values = [...database.values()].map(({ sensor_id, value }) => `${sensor_id} ${value}`).sort();
      expect(
        cache
          .all()
          .map(({ item }) => `${item.sensor_id} ${item.value}`)
          .sort(),
      ).toEqual(values);
      for (const { state } of readers)
        for (const item of database.values()) expect(state.get(item.sensor_id)).toEqual(item);
    }),
    { numRuns: 500 },
  );
});

test('Latest cache: interval_ms of a sensor: a resync adds or removes it, new values keep it, no lost change is counted', () => {
  const cache = new LatestCache();
  cache.update(itemOf(0, 1), 0);
  const sent = cache.position;
  expect(cache.refresh({ ...itemOf(0, 1), interval_ms: 900_000 }, sent)).toBe(false);
  expect(cache.since(sent).map(({ item }) => item.interval_ms)).toEqual([900_000]);
  cache.update(itemOf(0, 2), 0);
  expect(cache.all()[0]?.item).toMatchObject({ value: 2, interval_ms: 900_000 });
  cache.refresh(itemOf(0, 2), cache.position);
  expect(JSON.stringify(cache.all()[0]?.item)).not.toContain('interval_ms');
});

test('Latest cache: the database lacks a cached sensor at a resync: the sensor is removed, and the position grows', () => {
  const cache = new LatestCache();
  cache.update(itemOf(0, 1), 0);
  const before = cache.position;
  cache.beginResync();
  cache.endResync(before);
  expect(cache.all()).toEqual([]);
  expect(cache.position).toBeGreaterThan(before);
});
