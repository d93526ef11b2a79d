import { beforeEach } from '@jest/globals';
import pino from 'pino';
import { createReading } from '../../../api/history/reading/index.js';
import { createLateWriter, LateArrivalNotes, LateDayNotes } from '../../../api/ingest/late-samples.js';
import { SampleWriter } from '../../../api/ingest/sample-writer.js';
import { Retry } from '../../../api/store/sending/retry.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { createMemoryStore } from '../memory-store/index.js';
import { createTestPacker } from './packing.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */

/** @typedef {{ ts: number, value: number }} Sample `ts` in epoch ms */

export const GROUPS = 2;

/** An hour in the middle of a day and of a year. */
export const HOUR = Date.UTC(2026, 4, 5, 12);

const logger = pino({ level: 'silent' });

/**
 * Connects the path of a measurement from the sample writer to history and to a reader, with a database in memory and a clock that
 * the test sets. Nothing is packed before `HOUR`.
 */
export async function createMemoryPath() {
  const clock = { now: HOUR };
  const { store, database } = await createMemoryStore({
    clock: () => clock.now,
    installedAt: HOUR + 3 * HOUR_MS,
    retention: { latestGroups: GROUPS, batchDays: 8 },
  });
  const retry = new Retry({ logger, onRetry: () => {} });
  const late = { samples: 0 };

  /** @param {string} name @param {string} [sensorName] */
  function keyOf(name, sensorName = 's') {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(name));
    const { bytes: sensor } = /** @type {Identity} */ (identifySensor(id, sensorName));
    return { device: bytes, sensor, group: groupOf(bytes, GROUPS) };
  }

  /** @param {Partial<Store['write']>} [overrides] parts that replace those of `store.write` */
  function createWriter(overrides) {
    const used = { ...store.write, ...overrides };
    const guard = { now: () => clock.now };
    return new SampleWriter({
      write: used.samples,
      marks: store.commitMarks,
      clock: guard,
      late: createLateWriter({
        store: used.history,
        retry,
        days: new LateDayNotes({ store: used.lateDays, retry, clock: guard }),
        arrivals: new LateArrivalNotes({ store: used.lateArrivals, retry, clock: guard }),
        onLate: (samples) => {
          late.samples += samples;
        },
      }),
    });
  }
  const writer = createWriter();

  /** @param {string} name @param {string} sensorName */
  async function register(name, sensorName) {
    const { device: bytes, sensor, group } = keyOf(name, sensorName);
    await store.write.registry.writeDevice({ group, bytes }, { name, registeredAt: 1 }, 1);
    const change = { bytes: sensor, name: sensorName, registeredAt: 1, writeTimestamp: 1 };
    for (const write of store.write.registry.sensorWrites({ group, bytes }, [change], 1).sensors) {
      await store.write.registry.commit(write);
    }
  }

  return {
    clock,
    store,
    database,
    late,
    keyOf,

    /** @param {Partial<Parameters<typeof createTestPacker>[0]>} [deps] */
    packer: (deps) => createTestPacker({ store, groups: GROUPS, clock: () => clock.now, ...deps }),

    /**
     * @param {string} name of a device
     * @param {Sample[]} samples of its sensor `s`
     * @param {{ sensor?: string, overrides?: Partial<Store['write']> }} [options] `overrides`: parts that replace those of `store.write`
     * @returns {Promise<void>} settles when they may be acknowledged
     */
    async send(name, samples, { sensor = 's', overrides } = {}) {
      await register(name, sensor);
      const key = keyOf(name, sensor);
      const series = { known: /** @type {any} */ ({}), sensor: key.sensor };
      const times = samples.map(({ ts }) => ts);
      const values = samples.map(({ value }) => value);
      const device = /** @type {any} */ ({
        id: name,
        bytes: key.device,
        group: key.group,
        sensors: new Map(),
      });
      const used = overrides ? createWriter(overrides) : writer;
      await used.write(device, [{ ...series, times, values }]);
    },

    /** Writes a row of `message` that no process can read. @param {string} name of a device @param {number} hour epoch ms @param {number} [ts] epoch ms, of the row */
    writeBrokenRow: (name, hour, ts = hour) =>
      database.execute(
        'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)',
        [keyOf(name).device, new Date(hour), 0, new Date(ts), Buffer.from('00'), Buffer.from([255, 1])],
      ),

    /** @param {string} name @param {number} hour epoch ms @returns the row of history_stat for the hour, or null */
    async statisticsOf(name, hour) {
      const [row] = await store.packed.readStatistics(keyOf(name), hour, hour + HOUR_MS);
      return row ?? null;
    },

    /** @param {string} name @param {number} hour epoch ms @returns {Promise<Sample[]>} the samples of the hour in history, merged */
    async historyOf(name, hour) {
      const { times, values } = mergeSeries(await store.packed.readHour(keyOf(name), hour));
      return [...times].map((ts, index) => ({ ts, value: Number(values[index]) }));
    },

    /** Reads an hour as a client does. @param {string} name @param {number} hour epoch ms @returns {Promise<Sample[]>} */
    async read(name, hour) {
      const range = { from: hour, to: hour + HOUR_MS };
      const page = await createReading(store).page(keyOf(name), range, { order: 'asc', limit: 10_000 });
      return page.times.map((ts, index) => ({ ts, value: Number(page.values[index]) }));
    },

    /** Counts the samples in the points of an hour. @param {string} name @param {number} hour epoch ms */
    async countOf(name, hour) {
      const range = { from: hour, to: hour + HOUR_MS };
      const shape = await createReading(store).series(keyOf(name), range, { points: 1, newest: range.to });
      return { count: shape.points.reduce((sum, { count }) => sum + count, 0), source: shape.source };
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof createMemoryPath>>} MemoryPath */

/** Each test has a path of its own, whose members exist as soon as it begins. */
export function useMemoryPath() {
  const path = /** @type {MemoryPath} */ ({});
  beforeEach(async () => void Object.assign(path, await createMemoryPath()));
  return path;
}

/** Makes one sample for each second. @param {number} hour epoch ms @param {number} count @param {number} [from] number of the first sample @returns {Sample[]} */
export const samplesOf = (hour, count, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ ts: hour + (from + i) * 1000, value: from + i - 3.5 }));
