import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { signalProcess } from '../../../infra/engine/process/processes.ts';
import type { Latencies } from '../load/open-loop.ts';
import { type Shape, shapeOf } from '../load/shapes.ts';
import { startChild } from '../process/child.ts';
import type { JsonForm } from '../variants/alone.ts';
import { createRowTable } from '../variants/stores.ts';
import { startBroker } from './broker.ts';
import type { Database } from './database.ts';
import { type Changed, type Front, startFlags, startFront, startIngest } from './ingest.ts';
import { createLine, createPace, type Line, type Reading, type Variant } from './pipeline.ts';

export interface Context {
  environment: Environment;
  flags: BenchFlags;
  status: (text: string) => void;
  /** writes the results so far, in case the run fails later */
  keep?: (partial: unknown) => void;
}

export interface BenchFlags {
  only: string[];
  shapes: string[];
  rounds: number;
  runMs: number;
  /** ms under load before each run */
  warmMs: number;
  /** time for which an open dashboard is watched */
  watchMs: number;
  /** numbers of requests in flight that are tried for a baseline */
  inFlight: number[];
  /** time of load before the first measurement */
  bootMs: number;
  /** durability classes in which the peers are compared */
  classes?: Array<'K' | 'P'>;
  /** a rough run of a few minutes */
  quick?: boolean;
}

const PUBLISHER = fileURLToPath(new URL('../publisher/main.ts', import.meta.url));
const ALONE = fileURLToPath(new URL('../variants/alone.ts', import.meta.url));
const DRIVER = fileURLToPath(new URL('../variants/driver.ts', import.meta.url));

const CONNECTIONS = 8;

/** A database, one publisher, and the variants. Each variant starts when it is first needed. */
export async function openEnvironment({
  dir,
  database,
  prefix = 'bench',
  onStatus,
}: {
  dir: string;
  database: Database;
  prefix?: string;
  onStatus: (text: string) => void;
}) {
  const publisher = await startChild(PUBLISHER, {
    title: 'publisher',
    log: join(dir, 'logs', 'publisher.log'),
  });
  const open: Map<string, { close: () => Promise<void> }> = new Map();

  const { settings, migrate } = createKeyspaces(database, prefix);

  /** A variant of this name that already runs is used again. */
  async function once<C extends { close: () => Promise<void> }>(
    name: string,
    start: (home: string) => Promise<C>,
  ): Promise<C> {
    const known = open.get(name) as C | undefined;
    if (known) return known;
    onStatus(`starting ${name}`);
    const variant = await start(join(dir, name.replaceAll(/\W/g, '-')));
    open.set(name, variant);
    return variant;
  }

  /** @param changed missing: ingest runs unchanged */
  const pipeline = (
    name: string,
    changed?: Changed,
    {
      more,
      wired = false,
      keyspace = name,
    }: {
      more?: NodeJS.ProcessEnv;
      /** ingest reaches its broker through the publisher's wire */
      wired?: boolean;
      /** default: a keyspace of the pipeline's own */
      keyspace?: string;
    } = {},
  ) =>
    once(name, async (home) => {
      const broker = await startBroker(join(home, 'broker'));
      const reachedAt = wired ? await publisher.ask<string>('wire', broker.url) : broker.url;
      const env = { ...settings(keyspace, reachedAt), ...more };
      const { cql } = await migrate(env);
      const start = () => startIngest({ name: keyspace, dir: home, settings: env, changed });
      let ingest = await start();
      const parts = { broker, publisher, connections: CONNECTIONS };
      const ingestNow = { ...ingest, stop: () => ingest.stop() };
      const line = createLine({ ...parts, name: keyspace, ingest: ingestNow });
      return {
        ...line,
        broker,
        cql,
        pace: createPace({ ...parts, line }),
        /** Latencies since the last call. */
        latencies: (): Promise<Reading> => publisher.ask('latencies', { reset: true }),
        kill: async () => signalProcess(ingest.pid, 'SIGKILL'),
        async start() {
          await ingest.stop();
          ingest = await start();
        },
      };
    });

  return {
    dir,

    get database() {
      return database.pid;
    },

    /** `kill` ends the database with SIGKILL. Both are missing if the bench did not start the database. */
    kill: database.kill,
    start: database.start,

    /** Missing if the bench did not start the database. */
    get nodetool() {
      return database.nodetool;
    },

    /** All measurements share the publisher. */
    publisher,
    connections: CONNECTIONS,

    settings,

    variant: once,

    /** Migrates a variant that is not started yet, so that data can be loaded. */
    prepare: (name: string): Promise<Config> => migrate(settings(name)),

    pipeline,

    /** Ingest unchanged, with a wire on which its acknowledgements can be observed. */
    wired: () => pipeline('wired', undefined, { wired: true }),

    front: (line: Line): Promise<Front> =>
      once(`${line.name}-front`, (home) =>
        startFront({ name: `${line.name}-front`, dir: home, settings: settings(line.name, line.url) }),
      ),

    /** The ingest process makes the messages itself. */
    loop: (): Promise<Variant> =>
      once('loop', async (home) => {
        const env = settings('loop');
        await migrate(env);
        const ingest = await startIngest({ name: 'loop', dir: home, settings: env, changed: { loop: true } });
        return {
          name: 'loop',
          pids: { ingest: ingest.pid },
          committed: async () => (await ingest.metrics())('iot_ingest_samples_total'),
          inFlight: (most) => ingest.ask('inFlight', most),
          begin: (shape) => ingest.ask('begin', shape),
          end: () => ingest.ask('end'),
          close: () => ingest.stop(),
        };
      }),

    /** Writes the rows of a load, and decodes no messages. */
    driver: () =>
      once('driver', async (home) => {
        const env = settings('driver');
        const { cql } = await migrate(env);
        const child = await startScript(DRIVER, 'driver', home, env);
        return {
          cql,
          pid: child.pid,
          /** `rate`: samples/s. */
          pace: (shape: Shape, options: { rate: number; forMs: number }): Promise<Latencies> =>
            child.ask('pace', { shape, ...options }),
          close: () => child.stop(),
        };
      }),

    /** Decodes, validates and encodes messages, and stores nothing. */
    alone: () =>
      once('alone', async (home) => {
        const child = await startScript(ALONE, 'encoder', home);
        return {
          /** CPU µs per sample. */
          cost: (load: string, forMs: number): Promise<number> =>
            child.ask('cost', { shape: shapeOf(load), forMs }),
          /** CPU µs per message of one value. */
          jsonCost: (form: JsonForm, forMs: number): Promise<number> =>
            child.ask('jsonCost', { form, forMs }),
          close: () => child.stop(),
        };
      }),

    async close(name: string) {
      await open.get(name)?.close();
      open.delete(name);
    },

    async stop() {
      for (const variant of open.values()) await variant.close();
      await publisher.stop();
    },
  };
}

export type Environment = Awaited<ReturnType<typeof openEnvironment>>;

const startScript = (script: string, title: string, home: string, env?: NodeJS.ProcessEnv) =>
  startChild(script, { title, log: join(home, `${title}.log`), nodeFlags: startFlags(), env });

const createKeyspaces = ({ contactPoint }: Database, prefix: string) => ({
  settings: (name: string, broker?: string): NodeJS.ProcessEnv => ({
    CQL_CONTACT_POINTS: contactPoint,
    CQL_LOCAL_DC: 'datacenter1',
    CQL_KEYSPACE: `${prefix}_${name.replaceAll(/\W/g, '_')}`,
    MQTT_CLIENT_ID: `bench-${name}`,
    MQTT_URL: broker,
  }),

  /** Also creates the table of one row per sample. */
  async migrate(settings: NodeJS.ProcessEnv) {
    const config = readSettings(settings, { envFile: '' });
    await migrateDatabase(config);
    await createRowTable(config);
    return config;
  },
});
