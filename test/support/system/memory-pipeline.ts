import pino from 'pino';
import { openDatabase } from '../../../api/database.js';
import { createReading } from '../../../api/history/reading/index.js';
import { PayloadMemory } from '../../../api/ingest/admission/byte-budget.js';
import { createIngest } from '../../../api/ingest/index.js';
import { createContext } from '../../../api/observability/index.js';
import { readSettings } from '../../../common/settings/index.js';
import { groupOf, identifyDevice, identifySensor } from '../../../schema/ids.js';
import { parseTopic } from '../../../schema/topics.js';
import { createMemoryStore } from '../memory-store/index.js';
import { readSeries } from '../metrics.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Publish } from '../../../api/ingest/index.js' */
/** @import { Message, Send } from '../../../api/ingest/pipeline.js' */
/** @import { connectStore } from '../../../api/store/index.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { HeldWrites } from '../database/held-writes.js' */
/** @import { Table } from '../memory-store/tables.js' */

const DAY_MS = 86_400_000;

/** Intervals in which the clock is compared with the database's, in ms: a test that sets the clock right waits for the next comparison. */
const COMPARING = { trusted: 10_000, distrusted: 20 };

/** More samples than any test writes for one sensor. */
const MAX_SAMPLES = 1000;

const MAX_DEAD_LETTERS = 100;

/**
 * Starts the pipeline of a process, from a message to its acknowledgement, with a database in memory.
 *
 * @param {object} [options]
 * @param {Record<string, string>} [options.settings] as in the environment
 * @param {() => number} [options.clock] epoch ms
 * @param {() => Promise<number>} [options.clockDifference] of `clock` to the database's, in ms (default: none)
 * @param {NonNullable<Parameters<typeof createMemoryStore>[0]>['around']} [options.around] sees each request, and may delay or fail it
 * @param {HeldWrites} [options.writes] may hold a write
 * @param {Client} [options.database] of an earlier pipeline, whose data stay: a restart of the process
 * @param {Map<string, Table>} [options.tables] of `readMemoryTables`, for tests that start many pipelines
 * @param {Publish} [options.onStored] receives what is committed
 * @param {Send} [options.send] receives what is published to devices
 */
export async function startMemoryPipeline(options = {}) {
  const { settings, clock = Date.now, clockDifference = async () => 0, around, writes } = options;
  const { database, tables, send, onStored } = options;
  /** @type {Client | undefined} */
  let client;
  const config = readSettings({ LATEST_GROUPS: '4', ...settings }, { envFile: '' });
  /** @type {Array<{ sensor: string, value: number }>} */
  const published = [];
  /** @type {number[]} */
  const publications = [];
  const logger = pino({ level: 'silent' });
  const context = createContext({ config, version: 'test', logger, clock });
  /** @type {typeof connectStore} */
  const openMemoryStore = async ({ maxInFlight, hooks }) => {
    const memory = await createMemoryStore({ clock, maxInFlight, hooks, around, database, tables });
    client = memory.database;
    // The metrics list nodes, and a database in memory has none.
    return { ...memory.store, health: { ...memory.store.health, nodes: () => [] } };
  };
  const opened = await openDatabase(context, {
    clockDifference,
    comparing: COMPARING,
    openStore: writes ? writes.opens(openMemoryStore) : openMemoryStore,
  });
  const ingest = createIngest(context, {
    ...opened,
    send,
    publish: (device, changed, series) => {
      onStored?.(device, changed, series);
      publications.push(changed.length);
      for (const { name, value } of changed) published.push({ sensor: String(name), value: Number(value) });
    },
  });
  const pipeline = { ...opened, ingest };
  await ingest.start();

  const memory = new PayloadMemory();

  /** @param {string} topic @param {string | Buffer} payload @param {Partial<Message>} [rest] */
  const accept = (topic, payload, rest) =>
    pipeline.ingest.handleMessage({
      topic,
      route: parseTopic(topic),
      payload: memory.own(payload),
      retained: false,
      receipt: { from: null },
      receivedAt: clock(),
      ...rest,
    });

  const reading = createReading(pipeline.store);

  /** @param {string} device */
  function keyOf(device) {
    const { id, bytes } = /** @type {Identity} */ (identifyDevice(device));
    return { id, bytes, group: groupOf(bytes, config.retention.latestGroups) };
  }

  return {
    ...pipeline,
    accept,
    keyOf,

    /** The database of this pipeline, for a pipeline that is started later. */
    client: /** @type {Client} */ (client),

    /** @param {string} device @param {object[]} elements @param {Partial<Message>} [rest] */
    measure: (device, elements, rest) =>
      accept(`iot/v1/${device}/measurements`, JSON.stringify(elements), rest),

    /** @param {string} device @param {object[]} elements as the body of an HTTP request */
    submit(device, elements) {
      const payload = Buffer.from(JSON.stringify(elements));
      return pipeline.ingest.submit({
        device: /** @type {Identity} */ (identifyDevice(device)),
        contentType: 'application/json',
        bytes: payload.length,
        read: async () => payload,
        signal: new AbortController().signal,
      });
    },

    /** Newest values as live readers received them, in order. */
    published,

    /** The number of values in each publication to live readers. */
    publications,

    /** @param {string} device @param {string} sensor @param {number} from epoch ms @returns {Promise<Array<[ts: number, value: number]>>} in order of time */
    async samples(device, sensor, from) {
      const { id, bytes, group } = keyOf(device);
      const identity = /** @type {Identity} */ (identifySensor(id, sensor));
      const key = { device: bytes, sensor: identity.bytes, group };
      const range = { from, to: clock() + DAY_MS };
      const { times, values } = await reading.page(key, range, { order: 'asc', limit: MAX_SAMPLES });
      return times.map((ts, index) => [ts, Number(values[index])]);
    },

    /** @param {string} device @returns {Promise<Record<string, [ts: number | null, value: number | null]>>} by the sensor's name */
    async latest(device) {
      const rows = await pipeline.store.devices.sensors(keyOf(device));
      return Object.fromEntries(rows.map(({ name, ts, value }) => [String(name), [ts, value]]));
    },

    /** @param {string} device @returns {Promise<number | null | undefined>} epoch ms; undefined: not registered */
    lastSeen: async (device) => (await pipeline.store.devices.device(keyOf(device)))?.lastSeen,

    /** @returns {Promise<Array<Record<string, number>>>} number of refused elements by code, for each dead letter, the oldest first */
    async deadLetters() {
      const range = { from: clock() - DAY_MS, to: clock() + DAY_MS };
      const { deadLetters } = await pipeline.store.deadLetters.page(range, {
        before: null,
        limit: MAX_DEAD_LETTERS,
      });
      return deadLetters.map(({ codes }) => codes).reverse();
    },

    /** @param {string} series name and labels as Prometheus writes them @returns {Promise<number | undefined>} */
    metric: async (series) => readSeries(await context.metrics.registry.metrics(), series),

    /** Stops the pipeline. Messages that are not committed stay unacknowledged. */
    async stop() {
      pipeline.ingest.abort();
      await pipeline.store.close();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startMemoryPipeline>>} MemoryPipeline */
