import { beforeEach } from '@jest/globals';
import pino from 'pino';
import { createReading } from '../../../api/history/reading/index.ts';
import { createLateWriter, LateArrivalNotes, LateDayNotes } from '../../../api/ingest/late-samples.ts';
import { RevisionWriter } from '../../../api/ingest/revisions.ts';
import { SampleWriter } from '../../../api/ingest/sample-writer.ts';
import { type Store, stampOf } from '../../../api/store/index.ts';
import { Retry } from '../../../api/store/sending/retry.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { mergeSeries, type Span } from '../../../schema/packed/series.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { createMemoryStore } from '../memory-store/index.ts';
import { createTestPacker } from './packing.ts';

/** `ts` in epoch ms */
type Sample = { ts: number; value: number };

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

  function keyOf(name: string, sensorName: string = 's') {
    const { id, bytes } = identifyDevice(name) as Identity;
    const { bytes: sensor } = identifySensor(id, sensorName) as SensorIdentity;
    return { device: bytes, sensor, group: groupOf(bytes, GROUPS) };
  }

  function createWriter(overrides?: Partial<Store['write']>) {
    const used = { ...store.write, ...overrides };
    const guard = { now: () => clock.now };
    return new SampleWriter({
      write: used.samples,
      stamps: store.stamps,
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

  const guard = { now: () => clock.now };
  let beforeRows: (() => Promise<void>) | undefined;
  let afterRows: (() => void) | undefined;
  const { writeSamples } = store.write.history;
  const revisions = new RevisionWriter({
    store: {
      ...store.write.history,
      async writeSamples(...rows) {
        await beforeRows?.();
        beforeRows = undefined;
        await writeSamples(...rows);
        afterRows?.();
      },
    },
    retry,
    clock: guard,
    days: new LateDayNotes({ store: store.write.lateDays, retry, clock: guard }),
    lateDays: store.write.lateDays,
  });

  async function register(name: string, sensorName: string) {
    const { device: bytes, sensor, group } = keyOf(name, sensorName);
    await store.write.registry.writeDevice({ group, bytes }, { name, registeredAt: 1 }, stampOf(1));
    const change = { bytes: sensor, name: sensorName, registeredAt: 1, writeTimestamp: stampOf(1) };
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

    packer: (deps?: Partial<Parameters<typeof createTestPacker>[0]>) =>
      createTestPacker({ store, groups: GROUPS, clock: () => clock.now, ...deps }),

    /**
     * @param name of a device
     * @param samples of its sensor `s`
     * @param options `overrides`: parts that replace those of `store.write`
     * @returns settles when they may be acknowledged
     */
    async send(
      name: string,
      samples: Sample[],
      { sensor = 's', overrides }: { sensor?: string; overrides?: Partial<Store['write']> } = {},
    ): Promise<void> {
      await register(name, sensor);
      const key = keyOf(name, sensor);
      const series = { known: {} as never, sensor: key.sensor };
      const times = samples.map(({ ts }) => ts);
      const values = samples.map(({ value }) => value);
      const device = {
        id: name,
        bytes: key.device,
        group: key.group,
        sensors: new Map(),
      } as never;
      const used = overrides ? createWriter(overrides) : writer;
      await used.write(device, [{ ...series, times, values }]);
    },

    /** Corrects samples of `HOUR`. @param correction `beforeRows`: runs when the first row is about to be written, `afterRows` after its commit @returns the revision */
    async correct(
      name: string,
      correction: {
        samples?: Sample[];
        spans?: Span[];
        undoes?: number;
        beforeRows?: () => Promise<void>;
        afterRows?: () => void;
      },
    ): Promise<number> {
      ({ beforeRows, afterRows } = correction);
      const { device, sensor, group } = keyOf(name);
      const samples = correction.samples ?? [];
      const hour = {
        hour: HOUR,
        spans: correction.spans ?? [],
        samples: { times: samples.map(({ ts }) => ts), values: samples.map(({ value }) => value) },
        ...(correction.undoes === undefined ? {} : { undoes: correction.undoes }),
      };
      const at = await revisions.next();
      await revisions.write({ bytes: device, group }, at, [{ sensor, hours: [hour] }]);
      return at;
    },

    /** Writes a row of `message` that no process can read. @param name of a device @param hour epoch ms @param ts epoch ms, of the row */
    writeBrokenRow: (name: string, hour: number, ts: number = hour) =>
      database.execute(
        'INSERT INTO message (device_id, bucket, part, ts, digest, samples) VALUES (?, ?, ?, ?, ?, ?)',
        [keyOf(name).device, new Date(hour), 0, new Date(ts), Buffer.from('00'), Buffer.from([255, 1])],
      ),

    async statisticsOf(name: string, hour: number) {
      const [row] = await store.packed.readStatistics(keyOf(name), hour, hour + HOUR_MS);
      return row ?? null;
    },

    async historyOf(name: string, hour: number): Promise<Sample[]> {
      const { times, values } = mergeSeries(await store.packed.readHour(keyOf(name), hour));
      return [...times].map((ts, index) => ({ ts, value: Number(values[index]) }));
    },

    /** Reads an hour as a client does. @param hour epoch ms */
    async read(name: string, hour: number): Promise<Sample[]> {
      const range = { from: hour, to: hour + HOUR_MS };
      const page = await createReading(store).page(keyOf(name), range, { order: 'asc', limit: 10_000 });
      return page.times.map((ts, index) => ({ ts, value: Number(page.values[index]) }));
    },

    /** The hours from `hour` to before the next one that may have samples, by the statistics. @param hour epoch ms */
    async hoursOf(name: string, hour: number) {
      const range = { from: hour, to: hour + HOUR_MS };
      const found = [];
      for await (const hours of createReading(store).hours(keyOf(name), range, 'asc', HOUR_MS))
        found.push(...hours);
      return found;
    },

    /** Counts the samples in the points of an hour. @param hour epoch ms */
    async countOf(name: string, hour: number) {
      const range = { from: hour, to: hour + HOUR_MS };
      const shape = await createReading(store).series(keyOf(name), range, { points: 1, newest: range.to });
      return { count: shape.points.reduce((sum, { count }) => sum + count, 0), source: shape.source };
    },
  };
}

type MemoryPath = Awaited<ReturnType<typeof createMemoryPath>>;

/** Each test has a path of its own, whose members exist as soon as it begins. */
export function useMemoryPath() {
  const path = {} as MemoryPath;
  beforeEach(async () => void Object.assign(path, await createMemoryPath()));
  return path;
}

/** Makes one sample for each second. @param hour epoch ms @param from number of the first sample */
export const samplesOf = (hour: number, count: number, from: number = 0): Sample[] =>
  Array.from({ length: count }, (_, i) => ({ ts: hour + (from + i) * 1000, value: from + i - 3.5 }));
