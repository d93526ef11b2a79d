import { expect, test } from '@jest/globals';
import { createDelta, createSnapshot } from '../../../api/http/stream/frames.js';
import { createKnown } from '../../../api/http/stream/latest-cache.js';

/** @import { LiveItem } from '../../../api/live/messages.js' */

const NOW = Date.parse('2026-11-21T00:00:00.000Z');
/** What `performance.now()` would say, in ms. */
const ELAPSED = 1_000_000;
const UNTIL = { channel: '0123456789abcdef', position: 2000 };

/** @param {string} sensor @param {number} ts @returns {LiveItem} */
const itemOf = (sensor, ts) => ({
  device_id: 'd',
  sensor_id: sensor,
  device: null,
  name: null,
  type: null,
  unit: null,
  site: null,
  ts: new Date(ts).toISOString(),
  value: ts,
});

/** @param {Buffer} frame */
const dataOf = (frame) => JSON.parse(/data: (.*)/.exec(String(frame))?.[1] ?? '');

/** @param {ReturnType<typeof createKnown>} known @param {number} [at] */
const delta = (known, at = 0) =>
  dataOf(
    createDelta(
      known.since(0),
      UNTIL,
      () => NOW,
      () => ELAPSED,
    ).frame(at),
  );

/** @param {{ sent_at: string, committed_at: string }} data */
const age = ({ sent_at, committed_at }) => Date.parse(sent_at) - Date.parse(committed_at);

test('a delta says when the oldest of its values was committed, and when it was made', () => {
  const known = createKnown();
  known.hear(itemOf('a', 1), ELAPSED - 200);
  known.hear(itemOf('b', 1), ELAPSED - 5000);
  known.hear(itemOf('c', 1), ELAPSED - 100);
  const data = delta(known);
  expect(data.sent_at).toBe('2026-11-21T00:00:00.000Z');
  expect(age(data)).toBe(5000);
});

test('a value that has been replaced says nothing more', () => {
  const known = createKnown();
  known.hear(itemOf('a', 1), ELAPSED - 5000);
  known.hear(itemOf('a', 2), ELAPSED - 100);
  expect(age(delta(known))).toBe(100);
});

test('of what was read nobody knows when it was committed', () => {
  const known = createKnown();
  known.hear(itemOf('a', 1), ELAPSED - 5000);
  known.read(itemOf('a', 2), known.position);
  expect(delta(known).committed_at).toBe(null);
  known.read(itemOf('b', 1), known.position);
  known.hear(itemOf('c', 1), ELAPSED - 100);
  expect(age(delta(known))).toBe(100);
});

test('of many, each event speaks for its own', () => {
  const known = createKnown();
  for (let i = 0; i < 400; i++) known.hear(itemOf(`s${i}`, 1), ELAPSED - (i < 250 ? 9000 : 0));
  expect(age(delta(known, 0))).toBe(9000);
  expect(age(delta(known, 1))).toBe(0);
});

test('a snapshot tells what is so, not since when', () => {
  const known = createKnown();
  known.hear(itemOf('a', 1), ELAPSED);
  const data = dataOf(createSnapshot(known.all(), UNTIL).frame(0));
  expect(data).toEqual({ items: [itemOf('a', 1)] });
});
