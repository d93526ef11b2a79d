import { describe, expect, test } from '@jest/globals';
import { createPermits } from '../../../../api/ingest/pressure/permits.js';
import { createWindow } from '../../../../api/ingest/pressure/window.js';
import { withPermit } from '../../../support/permit.js';

/**
 * A database as queueing theory has it: it works on so many requests at once, each takes so long, the others wait in
 * it. Its clock is ours, so that a minute of load passes in a moment.
 *
 * @param {{ atOnce: number, serviceMs: number, most?: number }} database
 */
function createLoad({ atOnce, serviceMs, most = 1024 }) {
  let clock = 0;
  let service = serviceMs;
  let failing = false;
  const window = createWindow({ most, now: () => clock });
  /** @type {number[]} when each that is in flight was sent, the oldest first */
  const inFlight = [];
  let credit = 0;

  return {
    window,
    /** The database takes so long for each from now on. @param {number} ms */
    slow(ms) {
      service = ms;
    },
    /** @param {boolean} now */
    fail(now) {
      failing = now;
    },
    /** @param {number} seconds @param {number} [offered] requests a ms; more than it can take unless said */
    run(seconds, offered = Number.POSITIVE_INFINITY) {
      /** @type {number[]} */
      const sizes = [];
      let waiting = 0;
      for (const end = clock + seconds * 1000; clock < end; clock += 1) {
        waiting += offered;
        while (waiting >= 1 && inFlight.length < window.size) {
          inFlight.push(clock);
          waiting--;
        }
        if (waiting >= 1) window.noteWaiting();
        credit += Math.min(inFlight.length, atOnce) / service;
        for (; credit >= 1 && inFlight.length > 0; credit--) {
          const sent = /** @type {number} */ (inFlight[0]);
          // Nothing is answered faster than the service takes.
          if (clock - sent < service - 1) break;
          inFlight.shift();
          window.note(sent - 1, failing);
        }
        credit = Math.min(credit, atOnce);
        sizes.push(window.size);
      }
      return sizes;
    },
  };
}

/** @param {number[]} sizes */
const median = (sizes) => [...sizes].sort((a, b) => a - b)[sizes.length >> 1] ?? 0;

describe('the window', () => {
  test('grows under load until the database is busy, and not without end', () => {
    const load = createLoad({ atOnce: 16, serviceMs: 4 });
    load.run(20);
    const settled = median(load.run(20));
    // What keeps the database busy is 16 in flight; eight times the unloaded latency is 8 times that.
    expect(settled).toBeGreaterThanOrEqual(16);
    expect(settled).toBeLessThanOrEqual(16 * 12);
  });

  test.each([
    [5, 'takes 300 ms to answer what was in flight before a probe'],
    [160, 'answers 8 requests in more than 300 ms'],
  ])('grows not without end in a process that begins under load: %i ms, a database that %s', (serviceMs) => {
    const load = createLoad({ atOnce: 4, serviceMs });
    load.run(60);
    expect(median(load.run(20))).toBeLessThanOrEqual(4 * 12);
  });

  test('falls when the database gets slower, and comes back with it', () => {
    const load = createLoad({ atOnce: 16, serviceMs: 4 });
    load.run(30);
    const before = median(load.run(10));
    load.slow(8);
    const during = median(load.run(20).slice(5000));
    load.slow(4);
    load.run(5);
    const after = median(load.run(10));
    expect(during).toBeLessThan(before * 0.7);
    expect(after).toBeGreaterThan(before * 0.8);
  });

  test('takes a slowness that stays for what it is within a minute or so', () => {
    const load = createLoad({ atOnce: 16, serviceMs: 4 });
    load.run(60);
    load.slow(8);
    load.run(90);
    expect(median(load.run(10))).toBeGreaterThanOrEqual(16);
  });

  test('is small while requests fail, and open again soon after', () => {
    const load = createLoad({ atOnce: 16, serviceMs: 4 });
    load.run(20);
    const before = median(load.run(5));
    load.fail(true);
    load.run(3);
    expect(load.window.size).toBeLessThanOrEqual(4);
    load.fail(false);
    load.run(5);
    expect(load.window.size).toBeGreaterThan(before * 0.7);
  });

  test('is not closed for all by a few requests that fail', () => {
    const load = createLoad({ atOnce: 16, serviceMs: 4 });
    load.run(20);
    const before = median(load.run(5));
    for (let second = 0; second < 10; second++) {
      load.fail(true);
      load.run(0.002);
      load.fail(false);
      load.run(0.998);
    }
    expect(load.window.size).toBeGreaterThan(before * 0.5);
  });

  test('holds still for a database that takes longer than a look at it', () => {
    const load = createLoad({ atOnce: 4, serviceMs: 60 });
    load.run(60);
    const sizes = load.run(30).filter((size) => size > 4);
    expect(Math.max(...sizes)).toBeLessThan(4 * Math.min(...sizes));
  });

  test('does not grow while it is not used', () => {
    const load = createLoad({ atOnce: 16, serviceMs: 4 });
    const first = load.window.size;
    load.run(20, 0.5);
    expect(load.window.size).toBeLessThanOrEqual(first);
  });

  test('never exceeds its bound, be it 1', () => {
    for (const most of [1, 7]) {
      const load = createLoad({ atOnce: 16, serviceMs: 4, most });
      expect(Math.max(...load.run(40))).toBe(most);
      expect(Math.min(...load.run(40))).toBeGreaterThanOrEqual(1);
    }
  });
});

test('requests that wait go on when the window has grown, several at once', async () => {
  const bound = { size: 1 };
  const permits = createPermits(bound);
  /** @type {Array<() => void>} */
  const ends = [];
  const all = Array.from({ length: 4 }, () =>
    withPermit(permits, () => new Promise((resolve) => ends.push(() => resolve(undefined)))),
  );
  expect({ inUse: permits.inUse, waiting: permits.waiting }).toEqual({ inUse: 1, waiting: 3 });
  bound.size = 3;
  ends[0]?.();
  await all[0];
  expect({ inUse: permits.inUse, waiting: permits.waiting }).toEqual({ inUse: 3, waiting: 0 });
  // Whoever was let go sends in the turns that follow.
  await new Promise((resolve) => setImmediate(resolve));
  for (const end of ends) end();
  await Promise.all(all);
  expect(permits.inUse).toBe(0);
});
