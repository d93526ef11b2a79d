import { DueNotices } from '../../../../api/features/assets/roll-ups/due-notices.ts';
import { PendingChanges } from '../../../../api/features/assets/roll-ups/pending-changes.ts';
import { Recompute } from '../../../../api/features/assets/roll-ups/recompute.ts';
import { Rolling } from '../../../../api/features/assets/roll-ups/rolling.ts';
import { createRollUpStore, type RollUpStore } from '../../../../api/features/assets/roll-ups/store.ts';
import type { Change } from '../../../../api/features/assets/tree/change.ts';
import { AssetTree } from '../../../../api/features/assets/tree/index.ts';
import { type Store, stampOf } from '../../../../api/store/index.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';
import { hourStatisticsOf } from '../../../../schema/packed/statistics.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { ALONE } from '../../history/packing.ts';
import { createMemoryStore, readMemoryTables } from '../../memory-store/index.ts';
import type { Table } from '../../memory-store/tables.ts';

/** The last hours of a year. The first ones of the next follow. */
export const FIRST_HOUR = Date.UTC(2025, 11, 31, 22);

const GROUPS = 2;

/** In days. Short, so that an edit of all times is computed soon. */
const HISTORY_DAYS = 2;

export interface WorldSensor {
  device: Identity;
  group: number;
  sensor: SensorIdentity;
  type: string;
  /** values by epoch ms, in order of their arrival */
  samples: Map<number, number>;
}

let tables: Promise<Map<string, Table>> | null = null;

/** @param sensors name and type of each sensor, by the name of its device */
export async function createWorld(sensors: Record<string, Record<string, string>>) {
  tables ??= readMemoryTables();
  const clock = { now: FIRST_HOUR };
  const retention = { latestGroups: GROUPS };
  const { store } = await createMemoryStore({ clock: () => clock.now, retention, tables: await tables });
  const rollUps = createRollUpStore(store.session);
  const all = await register(store, sensors);
  /** as the table of edits has them */
  const log: Change[][] = [];
  const truth = new AssetTree();

  function edit(changes: Change[]) {
    log.push(changes);
    truth.apply(log.length, changes);
  }

  /** The sensors of a device with samples in an hour. */
  const sensorsOf = (device: Identity, hour: number) =>
    all.filter((sensor) => sensor.device === device && samplesIn(sensor, hour).length > 0);

  /** A process with its own tree. */
  function createProcess(historyDays: number = HISTORY_DAYS) {
    const tree = new AssetTree();
    const pending = new PendingChanges();
    tree.onChange(pending.note);
    /** writes until the process is killed; `unsent`: before the last one reaches the database */
    const life = { writes: Number.POSITIVE_INFINITY, unsent: false };

    /** in the order of the log, as the process reads it */
    const refresh = async () => {
      for (const [index, changes] of log.entries()) if (index >= tree.version) tree.apply(index + 1, changes);
    };

    const mortal = Object.fromEntries(
      Object.entries(rollUps).map(([name, call]) => [
        name,
        async (...args: never[]) => {
          if (!name.startsWith('write')) return (call as (...args: never[]) => unknown)(...args);
          if (--life.writes < 0 || (life.writes === 0 && life.unsent)) throw new Killed();
          const answer = await (call as (...args: never[]) => unknown)(...args);
          if (life.writes === 0) throw new Killed();
          return answer;
        },
      ]),
    ) as unknown as RollUpStore;
    const guard = { now: () => clock.now };
    const steps = { run: <T>(step: () => Promise<T>) => step(), stopped: false };
    let rolled = 0;
    const recompute = new Recompute({
      tree,
      store: { packed: store.packed, groups: GROUPS, rollUps: mortal },
      steps,
      clock: guard,
      onRolled: (hours) => {
        rolled += hours;
      },
    });
    const rolling = new Rolling({
      tree,
      refresh,
      pending,
      recompute,
      store: { packProgress: store.packProgress, groups: GROUPS, rollUps: mortal },
      clock: guard,
      historyDays,
      steps,
      leases: ALONE,
    });
    const notices = new DueNotices({
      tree,
      refresh,
      store: mortal,
      clock: guard,
      run: (request) => request(),
    });
    return {
      tree,
      pending,
      life,
      rolling,
      refresh,
      get rolled() {
        return rolled;
      },

      /** As the packer does: first the statistics, then the report. @throws Killed */
      async pack(device: Identity, hour: number) {
        clock.now++;
        const readFrom = clock.now;
        const packed = sensorsOf(device, hour);
        for (const sensor of packed) {
          const samples = samplesIn(sensor, hour);
          const statistics = hourStatisticsOf(samples.map(([, value]) => value));
          const times = { firstAt: samples[0]?.[0] as number, lastAt: samples.at(-1)?.[0] as number };
          const key = { device: device.bytes, sensor: sensor.sensor.bytes };
          await store.packing.writeStatistics(key, hour, { ...statistics, ...times }, readFrom);
        }
        const group = groupOf(device.bytes, GROUPS);
        const sensors = packed.map(({ sensor }) => sensor.bytes);
        if (packed.length > 0) await notices.note([{ group, device: device.bytes, hour, sensors }]);
      },

      /** @throws Killed */
      async roll() {
        clock.now++;
        await rolling.rollDue();
      },
    };
  }

  return { clock, store, rollUps, sensors: all, log, truth, edit, createProcess };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

export class Killed extends Error {
  constructor() {
    super('the process is killed');
    this.name = 'Killed';
  }
}

/** In order of time. */
export const samplesIn = ({ samples }: WorldSensor, hour: number): Array<[ts: number, value: number]> =>
  [...samples].filter(([ts]) => ts >= hour && ts < hour + HOUR_MS).sort(([a], [b]) => a - b);

async function register(
  store: Store,
  devices: Record<string, Record<string, string>>,
): Promise<WorldSensor[]> {
  const all: WorldSensor[] = [];
  for (const [name, sensors] of Object.entries(devices)) {
    const device = identifyDevice(name) as Identity;
    const group = groupOf(device.bytes, GROUPS);
    const key = { group, bytes: device.bytes };
    for (const [sensorName, type] of Object.entries(sensors)) {
      const sensor = identifySensor(device.id, sensorName) as SensorIdentity;
      all.push({ device, group, sensor, type, samples: new Map() });
      const change = {
        bytes: sensor.bytes,
        name: sensorName,
        type,
        registeredAt: 1,
        writeTimestamp: stampOf(1),
      };
      for (const write of store.write.registry.sensorWrites(key, [change], 1).sensors)
        await store.write.registry.commit(write);
    }
  }
  return all;
}
