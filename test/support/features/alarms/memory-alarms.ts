import pino from 'pino';
import { createAlarms } from '../../../../api/features/alarms/alarms.ts';
import type { AlarmPeriods } from '../../../../api/features/alarms/evaluating.ts';
import type { AlarmMessage } from '../../../../api/features/alarms/reports.ts';
import type { Wanted } from '../../../../api/features/alarms/rules/rule.ts';
import { createAlarmTables } from '../../../../api/features/alarms/store/index.ts';
import { createReading } from '../../../../api/history/reading/index.ts';
import { createContext, UnwatchedTime } from '../../../../api/observability/index.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';
import { startMemoryPipeline } from '../../system/memory-pipeline.ts';
import { until } from '../../until.ts';

/** Short periods, because tests wait for them. */
const PERIODS = { rules: 20, absence: 20, recovery: 50, deliveries: 50, spacing: 2 };

/** Heartbeat of the processes that write watched time, in ms. A gap of more than 25 s counts. */
const HEARTBEAT_MS = 10_000;

export async function startMemoryAlarms({
  clock,
  settings = {},
  periods = {},
}: {
  /** epoch ms; each call later than the one before */
  clock: () => number;
  settings?: Record<string, string>;
  /** ms */
  periods?: Partial<AlarmPeriods>;
}) {
  const pipeline = await startMemoryPipeline({ clock, settings });
  const tables = createAlarmTables(pipeline.store.session);
  const config = readSettings({ LATEST_GROUPS: '4', ...settings }, { envFile: '' });
  const messages: AlarmMessage[] = [];
  /** Whether the processes receive what devices send. */
  const world = { watches: true };
  const start = async (clientId: string) => {
    const own = { ...config, mqtt: { ...config.mqtt, clientId } };
    const context = createContext({
      config: own,
      version: 'test',
      logger: pino({ level: 'silent' }),
      clock,
    });
    const { store, ingest } = pipeline;
    const unwatchedTime = new UnwatchedTime(context, { store: store.watchedTime, everyMs: HEARTBEAT_MS });
    const alarms = createAlarms(context, {
      store,
      tables,
      reading: createReading(store),
      clockGuard: { now: clock },
      ingest,
      watch: { watches: () => world.watches, unwatchedTime },
      publish: (message) => messages.push(message),
      outbox: null,
      periods: { ...PERIODS, ...periods },
    });
    await alarms.start();
    return alarms;
  };
  const alarms = await start('first');

  const keyOf = (device: string, sensor: string) => {
    const { id, bytes } = identifyDevice(device) as Identity;
    return { device: bytes, sensor: (identifySensor(id, sensor) as SensorIdentity).bytes };
  };

  return {
    ...pipeline,
    alarms,
    tables,
    start,
    keyOf,
    world,
    /** The changes of alarms as readers receive them. */
    messages,

    /** @param since epoch ms */
    addRule: (
      {
        condition,
        scope,
        name = 'rule',
        severity = 'warning',
      }: Partial<Wanted> & Pick<Wanted, 'condition' | 'scope'>,
      since: number,
    ) => alarms.rules.add({ name, scope, severity, condition }, since),

    evaluated: () => until(() => alarms.waiting === 0),

    /** Waits until the lease holder has checked every group twice: the first check may have been under way. */
    async looked() {
      const { fleet } = pipeline.store;
      const { latestOfGroup } = fleet;
      let looks = 0;
      fleet.latestOfGroup = (group) => {
        looks++;
        return latestOfGroup(group);
      };
      await until(() => looks > 8);
      fleet.latestOfGroup = latestOfGroup;
      await until(() => alarms.waiting === 0);
    },

    async episodes(
      device: string,
      sensor: string,
    ): Promise<
      Array<{ start: number; opened: number; cleared: number | null; peak: number | null; late: boolean }>
    > {
      const key = keyOf(device, sensor);
      const all = await tables.episodes.ofSensor(key.device, key.sensor);
      return all
        .filter(({ withdrawn }) => !withdrawn)
        .map(({ start, opened, cleared, peak, late }) => ({ start, opened, cleared, peak, late }))
        .sort((a, b) => a.start - b.start);
    },

    async stop() {
      await alarms.stop();
      await pipeline.stop();
    },
  };
}

export type MemoryAlarms = Awaited<ReturnType<typeof startMemoryAlarms>>;
