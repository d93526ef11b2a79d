import pino from 'pino';
import { createReading } from '../../../api/history/reading/index.js';
import { createLateDayNotes, createLateWriter } from '../../../api/ingest/late-writer.js';
import { createPartitionWatch, createSampleWriter } from '../../../api/ingest/sample-writer.js';
import { createRetry } from '../../../api/store/retry.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { mergeSeries } from '../../../schema/packed/series.js';
import { HOUR_MS } from '../../../schema/rules.js';
import { createMemoryStore } from '../memory-store/index.js';
import { createTestPacker } from '../packing.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */

/** @typedef {{ ts: number, value: number }} Sample `ts` in epoch ms */

export const GROUPS = 2;

/** An hour in the middle of a day, and of a year. */
export const HOUR = Date.UTC(2026, 4, 5, 12);

const logger = pino({ level: 'silent' });

/**
 * The path of a measurement from the sample writer to history and back to a reader, on a database in memory, by a clock that
 * the test holds. Nothing is packed before `HOUR`.
 */
export async function createMemoryPath() {
  const clock = { now: HOUR };
  const { store, database } = await createMemoryStore({
    clock: () => clock.now,
    installedAt: HOUR + 3 * HOUR_MS,
    retention: { latestGroups: GROUPS, batchDays: 8 },
  });
  const retry = createRetry({ logger, onRetry: () => {} });
  const late = { samples: 0 };

  /** @param {string} name @param {string} [sensorName] */
  function keyOf(name, sensorName = 's') {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(name));
    const { bytes: sensor } = /** @type {Identity} */ (identifySensor(id, sensorName));
    return { device: bytes, sensor, group: groupOf(bytes, GROUPS) };
  }

  /** @param {Partial<Store>} [parts] in place of the store's own */
  function createWriter(parts) {
    const used = { ...store, ...parts };
    const days = createLateDayNotes({ store: used.lateDays, retry });
    return createSampleWriter({
      store: used.measurements,
      retry,
      partitions: createPartitionWatch({ logger, onLarge: () => {} }),
      clock: /** @type {any} */ ({ now: () => clock.now }),
      late: createLateWriter({
        store: used.history,
        retry,
        days,
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
    await store.registry.writeDevice({ group, bytes }, { name, registeredAt: 1 }, 1);
    const change = { bytes: sensor, name: sensorName, registeredAt: 1, writeTimestamp: 1 };
    for (const write of store.registry.sensorWrites({ group, bytes }, [change], 1).sensors) {
      await store.registry.commit(write);
    }
  }

  return {
    clock,
    store,
    database,
    late,
    keyOf,

    /** @param {Partial<Parameters<typeof createTestPacker>[0]>} [parts] */
    packer: (parts) => createTestPacker({ store, groups: GROUPS, clock: () => clock.now, ...parts }),

    /**
     * @param {string} name of a device
     * @param {Sample[]} samples of its sensor `s`
     * @param {{ sensor?: string, parts?: Partial<Store> }} [options] `parts`: in place of the store's own
     * @returns {Promise<void>} settles when they may be acknowledged
     */
    async send(name, samples, { sensor = 's', parts } = {}) {
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
      const used = parts ? createWriter(parts) : writer;
      await used.write(device, used.plan(device, [{ ...series, times, values }]));
    },

    /** @param {string} name @param {number} hour epoch ms @returns what history_stat has of the hour, or null */
    async statisticsOf(name, hour) {
      const [row] = await store.packed.readStatistics(keyOf(name), hour, hour + HOUR_MS);
      return row ?? null;
    },

    /** @param {string} name @param {number} hour epoch ms @returns {Promise<Sample[]>} what history has of the hour, merged */
    async historyOf(name, hour) {
      const { times, values } = mergeSeries(await store.packed.readHour(keyOf(name), hour));
      return [...times].map((ts, at) => ({ ts, value: Number(values[at]) }));
    },

    /** As a client reads it. @param {string} name @param {number} hour epoch ms @returns {Promise<Sample[]>} */
    async read(name, hour) {
      const range = { from: hour, to: hour + HOUR_MS };
      const page = await createReading(store).page(keyOf(name), range, { order: 'asc', limit: 10_000 });
      return page.times.map((ts, at) => ({ ts, value: Number(page.values[at]) }));
    },

    /** The samples of an hour that its points count. @param {string} name @param {number} hour epoch ms */
    async countOf(name, hour) {
      const range = { from: hour, to: hour + HOUR_MS };
      const shape = await createReading(store).series(keyOf(name), range, { points: 1, newest: range.to });
      return { count: shape.points.reduce((sum, { count }) => sum + count, 0), source: shape.source };
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof createMemoryPath>>} MemoryPath */

/** One a second. @param {number} hour epoch ms @param {number} count @param {number} [from] the first one's number @returns {Sample[]} */
export const samplesOf = (hour, count, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ ts: hour + (from + at) * 1000, value: from + at - 3.5 }));
