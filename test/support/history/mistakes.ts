import type { HourRow } from '../../../api/store/history/reads.ts';
import type { Store } from '../../../api/store/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import type { SimulatedInstallation } from './simulated-installation.ts';
import type { Mistake } from './simulation.ts';

/** Margin before the closing after which a message is late, in ms: see docs/explanation/history.md. */
const MARGIN_MS = 5 * 60_000;

/** @returns returns before it is committed */
const notAwaited =
  <Args extends unknown[]>(write: (...args: Args) => Promise<unknown>) =>
  async (...args: Args): Promise<void> => {
    void write(...args);
  };

/** Violations of the rules in docs/explanation/history.md. The simulations must notice each of them. */
export const MISTAKES: Record<string, Mistake> = {
  'ingest reads the clock before the commit': {
    slow: ['measurements.commit request'],
    ingestClock(clock) {
      const began = clock.now();
      return { now: () => began };
    },
  },

  // As if the margin were 0 in both rules: messages are late only after the closing, and statistics are exact if the mark is older.
  'the margin before the closing is 0': {
    slow: [],
    ingestClock: (clock) => ({ now: () => clock.now() - MARGIN_MS }),
  },

  'ingest writes no late rows': { late: () => ({ write: async () => {} }) },

  'ingest does not await late rows': {
    slow: ['history.writeSamples'],
    late: (late) => ({ write: notAwaited(late.write) }),
  },

  'ingest does not mark late hours': {
    ingestStore: ({ write, ...store }) => ({
      ...store,
      write: { ...write, history: { ...write.history, writeLate: async () => {} } },
    }),
  },

  'the packer reads its clock after the samples': {
    slow: ['packing.blockPage answer', 'history.writeSamples request'],
    packerStore(store, clock) {
      const readAt: Map<string, number> = new Map();
      const id = (device: Buffer, hour: number) => `${device.toString('hex')} ${hour}`;
      return {
        ...store,
        packing: {
          ...store.packing,
          async blockPage(device, hour, part, after) {
            const page = await store.packing.blockPage(device, hour, part, after);
            readAt.set(id(device, hour), clock.now());
            return page;
          },
          writeStatistics: (key, hour, statistics, readFrom) =>
            store.packing.writeStatistics(
              key,
              hour,
              statistics,
              readAt.get(id(key.device, hour)) ?? readFrom,
            ),
        },
      };
    },
  },

  'the packer moves packed_until before statistics are committed': {
    slow: ['packing.writeStatistics'],
    packerStore: (store) => ({
      ...store,
      packing: { ...store.packing, writeStatistics: notAwaited(store.packing.writeStatistics) },
    }),
  },

  'the packer writes statistics before their samples': {
    slow: ['packing.writeSamples'],
    packerStore: (store) => ({
      ...store,
      packing: { ...store.packing, writeSamples: notAwaited(store.packing.writeSamples) },
    }),
  },

  'a reader takes statistics before packed_until': {
    slow: ['packed.readStatistics', 'packProgress.read'],
    readerStore: withStatisticsFirst,
  },

  'clocks differ by 15 minutes without a check': {
    slow: [],
    skewMs: 15 * 60_000,
  },
};

/** Other orders that the rules allow: with these, the simulations must find no fault. */
export const HARMLESS: Record<string, Mistake> = {
  'late hours are marked before their samples are written': {
    ingestStore(store) {
      let held: Array<() => Promise<unknown>> = [];
      const { history } = store.write;
      const reordered: typeof history = {
        ...history,
        async writeSamples(key, hours) {
          held.push(() => history.writeSamples(key, hours));
        },
        async writeLate(key, hours, lateAt) {
          await history.writeLate(key, hours, lateAt);
          const writes = held;
          held = [];
          for (const write of writes) await write();
        },
      };
      return { ...store, write: { ...store.write, history: reordered } };
    },
  },
};

/** Wraps a store so that a reader sees older statistics than packed_until, which is the wrong order. */
function withStatisticsFirst(store: Store, installation: SimulatedInstallation): Store {
  const older: Map<string, HourRow[]> = new Map();
  return {
    ...store,
    packProgress: {
      ...store.packProgress,
      async read(group) {
        for (const { bytes: device, sensors } of installation.devices) {
          for (const { bytes: sensor } of sensors) {
            const key = { device, sensor };
            const rows = await store.packed.readStatistics(
              key,
              installation.start - 6 * HOUR_MS,
              installation.start + 24 * HOUR_MS,
            );
            older.set(sensor.toString('hex'), rows);
          }
        }
        return store.packProgress.read(group);
      },
    },
    packed: {
      ...store.packed,
      readStatistics: async ({ sensor }, begin, end) =>
        (older.get(sensor.toString('hex')) ?? []).filter(({ hour }) => hour >= begin && hour < end),
    },
  };
}
