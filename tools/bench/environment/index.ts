import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { signalProcess } from '../../../infra/engine/process/processes.ts';
import type { Latencies } from '../load/open-loop.ts';
import { type Shape, shapeOf } from '../load/shapes.ts';
import { type Child, startChild } from '../process/child.ts';
import type { JsonForm } from '../variants/alone.ts';
import { createRowTable } from '../variants/stores.ts';
import { startBroker } from './broker.ts';
import type { Database } from './database.ts';
import { type Changed, type Front, startFlags, startFront, startIngest } from './ingest.ts';
import { createPace, Line, type Reading, type Variant } from './pipeline.ts';

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

interface EnvironmentOptions {
  dir: string;
  database: Database;
  prefix?: string;
  onStatus: (text: string) => void;
}

export async function openEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const log = join(options.dir, 'logs', 'publisher.log');
  return new Environment(options, await startChild(PUBLISHER, { title: 'publisher', log }));
}

/** A database, one publisher, and the variants. Each variant starts when it is first needed. */
export class Environment {
  readonly dir: string;
  /** `kill` ends the database with SIGKILL. Both are missing if the bench did not start the database. */
  readonly kill: Database['kill'];
  readonly start: Database['start'];
  /** All measurements share the publisher. */
  readonly publisher: Child;
  readonly connections = CONNECTIONS;
  readonly settings: Keyspaces['settings'];
  readonly #migrate: Keyspaces['migrate'];
  readonly #database: Database;
  readonly #onStatus: (text: string) => void;
  readonly #open: Map<string, { close: () => Promise<void> }> = new Map();

  constructor({ dir, database, prefix = 'bench', onStatus }: EnvironmentOptions, publisher: Child) {
    this.dir = dir;
    this.kill = database.kill;
    this.start = database.start;
    this.publisher = publisher;
    ({ settings: this.settings, migrate: this.#migrate } = createKeyspaces(database, prefix));
    this.#database = database;
    this.#onStatus = onStatus;
  }

  get database() {
    return this.#database.pid;
  }

  /** Missing if the bench did not start the database. */
  get nodetool() {
    return this.#database.nodetool;
  }

  /** A variant of this name that already runs is used again. */
  async variant<C extends { close: () => Promise<void> }>(
    name: string,
    start: (home: string) => Promise<C>,
  ): Promise<C> {
    const known = this.#open.get(name) as C | undefined;
    if (known) return known;
    this.#onStatus(`starting ${name}`);
    const variant = await start(join(this.dir, name.replaceAll(/\W/g, '-')));
    this.#open.set(name, variant);
    return variant;
  }

  /** Migrates a variant that is not started yet, so that data can be loaded. */
  prepare(name: string): Promise<Config> {
    return this.#migrate(this.settings(name));
  }

  /** @param changed missing: ingest runs unchanged */
  pipeline(
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
  ) {
    return this.variant(name, async (home) => {
      const broker = await startBroker(join(home, 'broker'));
      const reachedAt = wired ? await this.publisher.ask<string>('wire', broker.url) : broker.url;
      const env = { ...this.settings(keyspace, reachedAt), ...more };
      const { cql } = await this.#migrate(env);
      const start = () => startIngest({ name: keyspace, dir: home, settings: env, changed });
      let ingest = await start();
      const parts = { broker, publisher: this.publisher, connections: CONNECTIONS };
      const ingestNow = { ...ingest, stop: () => ingest.stop() };
      const line = new Line({ ...parts, name: keyspace, ingest: ingestNow });
      return Object.assign(line, {
        broker,
        cql,
        pace: createPace({ ...parts, line }),
        /** Latencies since the last call. */
        latencies: (): Promise<Reading> => this.publisher.ask('latencies', { reset: true }),
        kill: async () => signalProcess(ingest.pid, 'SIGKILL'),
        async start() {
          await ingest.stop();
          ingest = await start();
        },
      });
    });
  }

  /** Ingest unchanged, with a wire on which its acknowledgements can be observed. */
  wired() {
    return this.pipeline('wired', undefined, { wired: true });
  }

  front(line: Line): Promise<Front> {
    return this.variant(`${line.name}-front`, (home) =>
      startFront({ name: `${line.name}-front`, dir: home, settings: this.settings(line.name, line.url) }),
    );
  }

  /** The ingest process makes the messages itself. */
  loop(): Promise<Variant> {
    return this.variant('loop', async (home) => {
      const env = this.settings('loop');
      await this.#migrate(env);
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
    });
  }

  /** Writes the rows of a load, and decodes no messages. */
  driver() {
    return this.variant('driver', async (home) => {
      const env = this.settings('driver');
      const { cql } = await this.#migrate(env);
      const child = await startScript(DRIVER, 'driver', home, env);
      return {
        cql,
        pid: child.pid,
        /** `rate`: samples/s. */
        pace: (shape: Shape, options: { rate: number; forMs: number }): Promise<Latencies> =>
          child.ask('pace', { shape, ...options }),
        close: () => child.stop(),
      };
    });
  }

  /** Decodes, validates and encodes messages, and stores nothing. */
  alone() {
    return this.variant('alone', async (home) => {
      const child = await startScript(ALONE, 'encoder', home);
      return {
        /** CPU µs per sample. */
        cost: (load: string, forMs: number): Promise<number> =>
          child.ask('cost', { shape: shapeOf(load), forMs }),
        /** CPU µs per message of one value. */
        jsonCost: (form: JsonForm, forMs: number): Promise<number> => child.ask('jsonCost', { form, forMs }),
        close: () => child.stop(),
      };
    });
  }

  async close(name: string) {
    await this.#open.get(name)?.close();
    this.#open.delete(name);
  }

  async stop() {
    for (const variant of this.#open.values()) await variant.close();
    await this.publisher.stop();
  }
}

const startScript = (script: string, title: string, home: string, env?: NodeJS.ProcessEnv) =>
  startChild(script, { title, log: join(home, `${title}.log`), nodeFlags: startFlags(), env });

type Keyspaces = ReturnType<typeof createKeyspaces>;

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
