import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createKnown } from '../../../api/http/stream/latest-cache.js';

/** @import { LiveItem } from '../../../api/live/messages.js' */

/** @param {number} sensor @param {number} ts epoch ms @returns {LiveItem} */
const itemOf = (sensor, ts) => ({
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
 * One sensor gets a newer value, whose message arrives or is lost; one page of a reading begins or comes back; readers
 * are told; one is told no more, or comes back.
 */
const step = fc.oneof(
  fc.record({ kind: fc.constant('commit'), sensor: fc.nat(SENSORS - 1), arrives: fc.boolean() }),
  fc.constant({ kind: 'again' }),
  fc.record({ kind: fc.constant('retire'), sensor: fc.nat(SENSORS - 1) }),
  fc.constant({ kind: 'begin' }),
  fc.record({ kind: fc.constant('answer'), half: fc.nat(1) }),
  fc.constant({ kind: 'tell' }),
  fc.constant({ kind: 'away' }),
);

test('whatever is lost, late or repeated, all who are told in the end know what the database has', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const known = createKnown();
      /** @type {Map<string, LiveItem>} */
      const database = new Map();
      const readers = [0, 1].map(() => ({ position: 0, away: false, state: new Map() }));
      let clock = 0;
      /** @type {LiveItem | undefined} */
      let last;
      /** @type {{ since: number, rows: LiveItem[] } | undefined} */
      let page;

      const tell = () => {
        for (const reader of readers) {
          if (reader.away) continue;
          for (const { item } of known.since(reader.position)) reader.state.set(item.sensor_id, { ...item });
          reader.position = known.position;
        }
        known.settle();
      };
      const begin = () => {
        known.begin();
        page = { since: known.position, rows: [...database.values()].map((item) => ({ ...item })) };
      };
      const answer = () => {
        if (!page) return;
        for (const item of page.rows) known.read(item, page.since);
        known.end(page.since);
        page = undefined;
      };

      for (const one of /** @type {any[]} */ (steps)) {
        if (one.kind === 'commit') {
          last = itemOf(one.sensor, ++clock);
          database.set(last.sensor_id, last);
          if (one.arrives) known.hear(last, clock);
        } else if (one.kind === 'again' && last && database.has(last.sensor_id)) known.hear(last, clock);
        else if (one.kind === 'retire') database.delete(`s${one.sensor}`);
        else if (one.kind === 'begin' && !page) begin();
        else if (one.kind === 'answer') answer();
        else if (one.kind === 'tell') tell();
        else if (one.kind === 'away' && readers[1]) readers[1].away = !readers[1].away;
      }
      answer();
      begin();
      answer();
      for (const reader of readers) reader.away = false;
      tell();
      const values = [...database.values()].map(({ sensor_id, value }) => `${sensor_id} ${value}`).sort();
      expect(
        known
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

test('an older value is no news, and neither is the same one again', () => {
  const known = createKnown();
  expect(known.hear(itemOf(0, 5), 0)).toBe(true);
  expect(known.hear(itemOf(0, 5), 0)).toBe(false);
  expect(known.hear(itemOf(0, 4), 0)).toBe(false);
  expect(known.read(itemOf(0, 5), known.position)).toBe(false);
  expect(known.position).toBe(1);
});

test('a reading that began before a change does not take it back', () => {
  const known = createKnown();
  known.hear(itemOf(0, 1), 0);
  const since = known.position;
  known.hear(itemOf(0, 2), 0);
  expect(known.read(itemOf(0, 1), since)).toBe(false);
  expect(known.all()[0]?.item.value).toBe(2);
});
