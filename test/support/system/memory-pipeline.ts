import type { Client } from 'cassandra-driver';
import pino from 'pino';
import { openDatabase } from '../../../api/database.ts';
import { ingestSlots } from '../../../api/features/index.ts';
import { createFindNewest, createReading } from '../../../api/history/reading/index.ts';
import { PayloadMemory } from '../../../api/ingest/admission/byte-budget.ts';
import { createIngest, type Publish } from '../../../api/ingest/index.ts';
import type { Message, Send } from '../../../api/ingest/pipeline.ts';
import type { Device } from '../../../api/ingest/registry/cache.ts';
import { createContext } from '../../../api/observability/index.ts';
import { type connectStore, int32, int64 } from '../../../api/store/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import {
  groupOf,
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { bucketOf, DAY_MS, DEAD_LETTER_SHARDS, HOUR_MS } from '../../../schema/rules.ts';
import type { FurtherTopics } from '../../../schema/topics.ts';
import type { HeldWrites } from '../database/held-writes.ts';
import { createMemoryStore } from '../memory-store/index.ts';
import type { Table } from '../memory-store/tables.ts';
import { readSeries } from '../metrics.ts';

/** Intervals in which the clock is compared with the database's, in ms: a test that sets the clock right waits for the next comparison. */
const COMPARING = { trusted: 10_000, distrusted: 20 };

const MAX_SAMPLES = 1000;

/** Starts the pipeline of a process, from a message to its acknowledgement, with a database in memory. */
export async function startMemoryPipeline(
  options: {
    /** as in the environment */
    settings?: Record<string, string>;
    /** epoch ms */
    clock?: () => number;
    /** of `clock` to the database's, in ms (default: none) */
    clockDifference?: () => Promise<number>;
    /** sees each request, and may delay or fail it */
    around?: NonNullable<Parameters<typeof createMemoryStore>[0]>['around'];
    /** may hold a write */
    writes?: HeldWrites;
    /** of an earlier pipeline, whose data stay: a restart of the process */
    database?: Client;
    /** of `readMemoryTables`, for tests that start many pipelines */
    tables?: Map<string, Table>;
    /** receives what is committed */
    onStored?: Publish;
    /** receives each new device */
    onRegistered?: ((device: Device) => void) | undefined;
    /** receives what is published to devices */
    send?: Send;
    /** default: the topics of the core and of features */
    contract?: FurtherTopics;
  } = {},
) {
  const { settings, clock = Date.now, clockDifference = async () => 0, around, writes } = options;
  const { database, tables, send, onStored, onRegistered } = options;
  let client: Client | undefined;
  const config = readSettings({ LATEST_GROUPS: '4', ...settings }, { envFile: '' });
  const published: Array<{ sensor: string; value: number }> = [];
  const publications: number[] = [];
  const logger = pino({ level: 'silent' });
  const context = createContext({ config, version: 'test', logger, clock });
  const openMemoryStore: typeof connectStore = async ({ maxInFlight, hooks, openStamps }) => {
    const memory = await createMemoryStore({
      clock,
      maxInFlight,
      hooks,
      openStamps,
      around,
      database,
      tables,
    });
    client = memory.database;
    // The metrics list nodes, and a database in memory has none.
    return { ...memory.store, health: { ...memory.store.health, nodes: () => [] } };
  };
  const slots = { ...ingestSlots(config), ...(options.contract && { contract: options.contract }) };
  const opened = await openDatabase(context, {
    ...slots,
    clockDifference,
    comparing: COMPARING,
    openStore: writes ? writes.opens(openMemoryStore) : openMemoryStore,
  });
  const ingest = createIngest(context, {
    ...opened,
    ...slots,
    onRegistered,
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

  const accept = (topic: string, payload: string | Buffer, rest?: Partial<Message>) =>
    pipeline.ingest.handleMessage({
      topic,
      route: pipeline.ingest.topics.contract.parse(topic),
      payload: memory.own(payload),
      retained: false,
      receipt: { from: null },
      receivedAt: clock(),
      ...rest,
    });

  const reading = createReading(pipeline.store);

  function keyOf(device: string) {
    const { id, bytes } = identifyDevice(device) as Identity;
    return { id, bytes, group: groupOf(bytes, config.retention.latestGroups) };
  }

  /** @returns those of two days, the oldest first */
  async function storedDeadLetters() {
    const database = client as Client;
    const hours = Array.from({ length: 49 }, (_, hour) => bucketOf(clock()) + (hour - 24) * HOUR_MS);
    const shards = Array.from({ length: DEAD_LETTER_SHARDS }, (_, shard) => int32(shard));
    const select = 'SELECT id FROM dead_letter WHERE hour = ? AND shard = ?';
    const answers = await Promise.all(
      hours.flatMap((hour) => shards.map((shard) => database.execute(select, [int64(hour), shard]))),
    );
    const ids = answers.flatMap(({ rows }) => rows.map((row) => row['id']));
    ids.sort((a, b) => a.getDate() - b.getDate() || a.getDatePrecision().ticks - b.getDatePrecision().ticks);
    const found = await Promise.all(ids.map((id) => pipeline.store.deadLetters.find(String(id))));
    return found.filter((deadLetter) => deadLetter !== null);
  }

  return {
    ...pipeline,
    corrections: ingest.corrections(createFindNewest(reading, context)),
    metrics: context.metrics,
    accept,
    keyOf,

    /** The database of this pipeline, for a pipeline that is started later. */
    client: client as Client,

    measure: (device: string, elements: object[], rest?: Partial<Message>) =>
      accept(`iot/v1/${device}/measurements`, JSON.stringify(elements), rest),

    /** @param elements as the body of an HTTP request */
    submit(device: string, elements: object[]) {
      const payload = Buffer.from(JSON.stringify(elements));
      return pipeline.ingest.submit({
        device: identifyDevice(device) as Identity,
        contentType: 'application/json',
        bytes: payload.length,
        read: async () => payload,
        signal: new AbortController().signal,
      });
    },

    published,

    /** The number of values in each publication to live readers. */
    publications,

    /** @param from epoch ms @returns in order of time */
    async samples(device: string, sensor: string, from: number): Promise<Array<[ts: number, value: number]>> {
      const { id, bytes, group } = keyOf(device);
      const identity = identifySensor(id, sensor) as SensorIdentity;
      const key = { device: bytes, sensor: identity.bytes, group };
      const range = { from, to: clock() + DAY_MS };
      const { times, values } = await reading.page(key, range, { order: 'asc', limit: MAX_SAMPLES });
      return times.map((ts, index) => [ts, Number(values[index])]);
    },

    /** @returns by the sensor's name */
    async latest(device: string): Promise<Record<string, [ts: number | null, value: number | null]>> {
      const rows = await pipeline.store.devices.sensors(keyOf(device));
      return Object.fromEntries(rows.map(({ name, ts, value }) => [String(name), [ts, value]]));
    },

    /** @returns epoch ms; undefined: not registered */
    lastSeen: async (device: string): Promise<number | null | undefined> =>
      (await pipeline.store.devices.device(keyOf(device)))?.lastSeen,

    storedDeadLetters,

    /** @returns number of refused elements by code, for each dead letter, the oldest first */
    deadLetters: async (): Promise<Array<Record<string, number>>> =>
      (await storedDeadLetters()).map(({ codes }) => codes),

    /** @param series name and labels as Prometheus writes them */
    metric: async (series: string): Promise<number | undefined> =>
      readSeries(await context.metrics.registry.metrics(), series),

    /** Stops the pipeline. Messages that are not committed stay unacknowledged. */
    async stop() {
      pipeline.ingest.abort();
      await pipeline.store.close();
    },
  };
}

export type MemoryPipeline = Awaited<ReturnType<typeof startMemoryPipeline>>;
