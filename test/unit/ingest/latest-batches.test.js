import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino from 'pino';
import { LatestWriter } from '../../../api/ingest/latest-writer.js';
import { blankDevice, blankSensor } from '../../../api/ingest/registry/cache.js';

/** @import { Device, Sensor } from '../../../api/ingest/registry/cache.js' */
/** @import { LatestUpdate } from '../../../api/store/latest.js' */
/** @import { Retry } from '../../../api/store/sending/retry.js' */

/** Entries of a batch with several devices (data-model.md). */
const MAX_ENTRIES = 2000;

const DEVICES = 3;
const SENSORS = 1500;

/** @param {number} index @returns {Buffer} 16 bytes */
function idOf(index) {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32BE(index);
  return bytes;
}

/** @returns {Array<{ device: Device, sensors: Sensor[] }>} of one group */
const createFleet = () =>
  Array.from({ length: DEVICES }, (_, device) => ({
    device: blankDevice({ id: `d${device}`, bytes: idOf(device), group: 0, name: null, retiredAt: null }),
    sensors: Array.from({ length: SENSORS }, (_, sensor) =>
      blankSensor({ id: `s${sensor}`, bytes: idOf(sensor), deviceName: null, name: null, site: null }),
    ),
  }));

/** A writer whose requests to the database wait until the test ends them. */
function createBench() {
  /** @type {Array<{ updates: LatestUpdate[], entries: number }>} */
  const sent = [];
  /** @type {Array<() => void>} */
  const ends = [];
  const store = {
    /** @param {number} _group @param {() => LatestUpdate[]} take @param {() => number} entries */
    write: (_group, take, entries) =>
      new Promise((resolve) => {
        ends.push(() => {
          sent.push({ updates: take(), entries: entries() });
          resolve(undefined);
        });
      }),
  };
  const retry = /** @type {Retry} */ (
    /** @type {unknown} */ ({ run: (/** @type {() => Promise<void>} */ send) => send() })
  );
  return { writer: new LatestWriter({ store, retry, logger: pino({ level: 'silent' }) }), sent, ends };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

const count = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: SENSORS }));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ device: fc.nat(DEVICES - 1), from: fc.nat(SENSORS - 1), count }) },
  { weight: 1, arbitrary: fc.constant('end') },
);

test('Latest: any messages wait for the database: a request of several devices has 2,000 entries at most, and every value is committed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const fleet = createFleet();
      const { writer, sent, ends } = createBench();
      /** @type {Array<Promise<unknown>>} */
      const writes = [];
      /** @type {Map<Sensor, number>} */
      const newest = new Map();
      for (const [ts, one] of steps.entries()) {
        if (one === 'end') {
          ends.shift()?.();
          await settle();
          continue;
        }
        const { device, sensors } = /** @type {typeof fleet[number]} */ (fleet[one.device]);
        const some = sensors.slice(one.from, one.from + one.count);
        for (const sensor of some) newest.set(sensor, ts);
        writes.push(
          writer.write(
            device,
            some.map((sensor) => ({ sensor, ts, value: 1 })),
          ),
        );
        await settle();
      }
      while (ends.length > 0) {
        ends.shift()?.();
        await settle();
      }
      await Promise.all(writes);
      for (const { updates, entries } of sent) {
        expect(entries).toBe(updates.reduce((sum, update) => sum + update.newest.size, 0));
        if (updates.length > 1) expect(entries).toBeLessThanOrEqual(MAX_ENTRIES);
      }
      expect([...newest].filter(([sensor, ts]) => sensor.ts !== ts)).toEqual([]);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
