import pino from 'pino';
import { createAlarms } from '../../../api/alarms/index.js';
import { createReading } from '../../../api/history/reading/index.js';
import { createContext, UnwatchedTime } from '../../../api/observability/index.js';
import { readSettings } from '../../../common/settings/index.js';
import { identifyDevice, identifySensor } from '../../../schema/ids.js';
import { until } from '../until.js';
import { startMemoryPipeline } from './memory-pipeline.js';

/** @import { AlarmMessage, AlarmPeriods } from '../../../api/alarms/index.js' */
/** @import { Wanted } from '../../../api/alarms/rules/rule.js' */
/** @import { Identity } from '../../../schema/ids.js' */

/** Short periods, because tests wait for them. */
const PERIODS = { rules: 20, absence: 20, recovery: 50, deliveries: 50, spacing: 2 };

/** Heartbeat of the processes that write watched time, in ms. A gap of more than 25 s counts. */
const HEARTBEAT_MS = 10_000;

/**
 * Starts a pipeline with alarms, and a database in memory.
 *
 * @param {object} options
 * @param {() => number} options.clock epoch ms; each call later than the one before
 * @param {Record<string, string>} [options.settings]
 * @param {Partial<AlarmPeriods>} [options.periods] ms
 */
export async function startMemoryAlarms({ clock, settings = {}, periods = {} }) {
  const pipeline = await startMemoryPipeline({ clock, settings });
  const config = readSettings({ LATEST_GROUPS: '4', ...settings }, { envFile: '' });
  /** @type {AlarmMessage[]} */
  const messages = [];
  /** Whether the processes receive what devices send. */
  const world = { watches: true };
  /** Starts another process on the same database, such as a successor. @param {string} clientId */
  const start = async (clientId) => {
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

  /** @param {string} device @param {string} sensor */
  const keyOf = (device, sensor) => {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(device));
    return { device: bytes, sensor: /** @type {Identity} */ (identifySensor(id, sensor)).bytes };
  };

  return {
    ...pipeline,
    alarms,
    start,
    keyOf,
    world,
    /** The changes of alarms as readers receive them. */
    messages,

    /** @param {Partial<Wanted> & Pick<Wanted, 'condition' | 'scope'>} rule @param {number} since epoch ms */
    addRule: ({ condition, scope, name = 'rule', severity = 'warning' }, since) =>
      alarms.rules.add({ name, scope, severity, condition }, since),

    /** Waits until everything that is committed is evaluated. */
    evaluated: () => until(() => alarms.waiting === 0),

    /** @param {string} device @param {string} sensor @returns {Promise<Array<{ start: number, opened: number, cleared: number | null, peak: number | null, late: boolean }>>} episodes that were not withdrawn, in order */
    async episodes(device, sensor) {
      const key = keyOf(device, sensor);
      const all = await pipeline.store.alarms.episodes.ofSensor(key.device, key.sensor);
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

/** @typedef {Awaited<ReturnType<typeof startMemoryAlarms>>} MemoryAlarms */
