import { expect } from '@jest/globals';
import { type Identity, identifyDevice, identifySensor, type SensorIdentity } from '../../../schema/ids.ts';
import { mergeSeries } from '../../../schema/packed/series.ts';
import { bucketOf, closingOf, HOUR_MS } from '../../../schema/rules.ts';
import { createTestPacker } from '../history/packing.ts';
import { until } from '../until.ts';
import { useStoredSystem } from './stored.ts';

type Sample = { ts: number; value: number };

export const GROUPS = 2;

const MINUTE_MS = 60_000;

const STREAMED = 'SELECT streamed_until FROM stream_progress WHERE grp = ?';

/**
 * Starts a system for the tests of the file, which set its clock, send samples and read its history.
 * @param options `readStreamed`: until when each target of streaming is complete, in epoch ms; default: the groups in Kafka
 */
export function usePackedSystem({
  readStreamed,
  ...options
}: Parameters<typeof useStoredSystem>[0] & { readStreamed?: () => Promise<Array<number | null>> } = {}) {
  const clock = { now: bucketOf(Date.now()) };
  const settings = { LATEST_GROUPS: String(GROUPS) };
  const { system, store, database } = useStoredSystem({ settings, clock: () => clock.now, ...options });

  function readKafka() {
    const groups = Array.from({ length: GROUPS }, (_, group) => group);
    return Promise.all(
      groups.map(async (group): Promise<number | null> => {
        const rows = await database().execute(STREAMED, [group], { prepare: true });
        return rows.first()?.['streamed_until']?.getTime() ?? null;
      }),
    );
  }

  function keyOf(device: string, sensor: string = 's') {
    const { id, bytes } = identifyDevice(device) as Identity;
    return { device: bytes, sensor: (identifySensor(id, sensor) as SensorIdentity).bytes };
  }

  return {
    clock,
    keyOf,
    system,
    store,
    database,

    packer: (deps?: Partial<Parameters<typeof createTestPacker>[0]>) =>
      createTestPacker({ store: store(), groups: GROUPS, clock: () => clock.now, ...deps }),

    /** Moves the clock to the middle of the next hour, which is not packed. @returns epoch ms */
    newHour(): number {
      const hour = bucketOf(clock.now) + HOUR_MS;
      clock.now = hour + 30 * MINUTE_MS;
      return hour;
    },

    /** Moves the clock until an hour has closed, and waits for the watermarks of streaming behind it. @param hour epoch ms */
    async closeHour(hour: number) {
      clock.now = Math.max(clock.now, closingOf(hour));
      await until(
        async () =>
          (await (readStreamed ?? readKafka)()).every(
            (streamedUntil) => streamedUntil !== null && streamedUntil > hour,
          ),
        { what: `the watermarks behind ${new Date(hour).toISOString()}` },
      );
    },

    /** Packs everything before an hour. @param hour epoch ms */
    async packBefore(hour: number) {
      clock.now = closingOf(hour) - 1;
      await this.packer().packDue();
    },

    async send(device: string, samples: Sample[], sensor: string = 's') {
      const response = await system().post(
        `/measurements?device=${device}`,
        samples.map((sample) => ({ sensor_id: sensor, ...sample })),
      );
      expect(response.status).toBe(200);
    },

    async statisticsOf(device: string, hour: number, sensor?: string) {
      const rows = await store().packed.readStatistics(keyOf(device, sensor), hour, hour + HOUR_MS);
      return rows[0] ?? null;
    },

    /** @returns merged */
    async historyOf(device: string, hour: number, sensor?: string): Promise<Sample[]> {
      const { times, values } = mergeSeries(await store().packed.readHour(keyOf(device, sensor), hour));
      return [...times].map((ts, index) => ({ ts, value: Number(values[index]) }));
    },

    async read(device: string, hour: number, sensor: string = 's'): Promise<Sample[]> {
      const range = `from=${hour}&to=${hour + HOUR_MS}&order=asc&limit=1000`;
      const items = await system().all(`/devices/${device}/sensors/${sensor}/measurements?${range}`);
      return items.map(({ ts, value }) => ({ ts: Date.parse(ts), value }));
    },

    packedUntil: (): Promise<number[]> =>
      Promise.all(
        Array.from(
          { length: GROUPS },
          async (_, group) => (await store().packProgress.read(group)).packedUntil,
        ),
      ),
  };
}

/** Makes one sample for each second. @param hour epoch ms @param from number of the first sample */
export const samplesOf = (hour: number, count: number, from: number = 0): Sample[] =>
  Array.from({ length: count }, (_, i) => ({ ts: hour + (from + i) * 1000, value: from + i - 3.5 }));
