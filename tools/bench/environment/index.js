import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateDatabase } from '../../../api/store/setup/index.js';
import { readSettings } from '../../../common/settings/index.js';
import { signalProcess } from '../../../infra/engine/process/processes.js';
import { shapeOf } from '../load/shapes.js';
import { startChild } from '../process/child.js';
import { createRowTable } from '../variants/stores.js';
import { startBroker } from './broker.js';
import { startFlags, startFront, startIngest } from './ingest.js';
import { createLine, createPace } from './pipeline.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Database } from './database.js' */
/** @import { Changed, Front } from './ingest.js' */
/** @import { Latencies } from '../load/open-loop.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Line, Reading, Variant } from './pipeline.js' */
/** @import { JsonForm } from '../variants/alone.js' */

/**
 * The context in which a part of the benchmark runs.
 *
 * @typedef {object} Context
 * @property {Environment} environment
 * @property {BenchFlags} flags
 * @property {(text: string) => void} status shows what is being measured
 * @property {(partial: unknown) => void} [keep] writes the results so far into the raw file, in case the rest fails
 */

/**
 * @typedef {object} BenchFlags
 * @property {string[]} only names of parts
 * @property {string[]} shapes
 * @property {number} rounds
 * @property {number} runMs
 * @property {number} warmMs before each run, once its load is on
 * @property {number} watchMs of an open dashboard
 * @property {number[]} inFlight requests in flight that a baseline is tried with
 * @property {number} bootMs of load before anything is measured
 * @property {Array<'K' | 'P'>} [classes] of the peers
 * @property {boolean} [quick] a look in a few minutes
 */

const PUBLISHER = fileURLToPath(new URL('../publisher/main.js', import.meta.url));
const ALONE = fileURLToPath(new URL('../variants/alone.js', import.meta.url));
const DRIVER = fileURLToPath(new URL('../variants/driver.js', import.meta.url));

/** Connections of the publisher to a broker. */
const CONNECTIONS = 8;

/**
 * The environment of all measurements: a database, one publisher, and the variants. Each variant starts when it is first needed.
 *
 * @param {object} options
 * @param {string} options.dir folder of all their files
 * @param {Database} options.database
 * @param {string} [options.prefix] of the keyspaces
 * @param {(text: string) => void} options.onStatus
 */
export async function openEnvironment({ dir, database, prefix = 'bench', onStatus }) {
  const publisher = await startChild(PUBLISHER, {
    title: 'publisher',
    log: join(dir, 'logs', 'publisher.log'),
  });
  /** @type {Map<string, { close: () => Promise<void> }>} */
  const open = new Map();

  const { settings, migrate } = createKeyspaces(database, prefix);

  /**
   * @template {{ close: () => Promise<void> }} C
   * @param {string} name
   * @param {(home: string) => Promise<C>} start
   * @returns {Promise<C>} started once for each name
   */
  async function once(name, start) {
    const known = /** @type {C | undefined} */ (open.get(name));
    if (known) return known;
    onStatus(`starting ${name}`);
    const variant = await start(join(dir, name.replaceAll(/\W/g, '-')));
    open.set(name, variant);
    return variant;
  }

  /**
   * A pipeline with a broker of its own.
   *
   * @param {string} name
   * @param {Changed} [changed] none: our own ingest, as it is
   * @param {object} [options]
   * @param {NodeJS.ProcessEnv} [options.more] further settings of ingest
   * @param {boolean} [options.wired] ingest reaches its broker through the publisher's wire
   * @param {string} [options.keyspace] default: one of its own
   */
  const pipeline = (name, changed, { more, wired = false, keyspace = name } = {}) =>
    once(name, async (home) => {
      const broker = await startBroker(join(home, 'broker'));
      const reachedAt = wired ? await publisher.ask('wire', broker.url) : broker.url;
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
        /** The settings of the database in which the pipeline stores. */
        cql,
        pace: createPace({ ...parts, line }),
        /** @returns {Promise<Reading>} since the last call */
        latencies: () => publisher.ask('latencies', { reset: true }),
        /** Kills ingest during a run. */
        kill: async () => signalProcess(ingest.pid, 'SIGKILL'),
        async start() {
          await ingest.stop();
          ingest = await start();
        },
      };
    });

  return {
    /** The folder of all files. */
    dir,

    /** The pid of the database. */
    get database() {
      return database.pid;
    },

    /** Ends the database with SIGKILL, and starts it again; where it is one that we started. */
    kill: database.kill,
    start: database.start,

    /** Cassandra's own tool, where the database is one that we started. */
    get nodetool() {
      return database.nodetool;
    },

    /** The one publisher, and its connections to a broker. */
    publisher,
    connections: CONNECTIONS,

    /** @param {string} name @param {string} [broker] URL @returns {NodeJS.ProcessEnv} settings of a variant's processes */
    settings,

    /** Starts a variant of another kind: once for each name. */
    variant: once,

    /** @param {string} name makes the tables of a variant that is not started yet, to be loaded into @returns {Promise<Config>} */
    prepare: (name) => migrate(settings(name)),

    pipeline,

    /** Our own ingest, as it is, with a wire on which its acknowledgements can be read. */
    wired: () => pipeline('wired', undefined, { wired: true }),

    /** @param {Line} line serves what it stores @returns {Promise<Front>} */
    front: (line) =>
      once(`${line.name}-front`, (home) =>
        startFront({ name: `${line.name}-front`, dir: home, settings: settings(line.name, line.url) }),
      ),

    /** Our own ingest without a broker: its process makes the messages. @returns {Promise<Variant>} */
    loop: () =>
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

    /** The driver alone: a process that writes the rows of a load, and decodes no messages. */
    driver: () =>
      once('driver', async (home) => {
        const env = settings('driver');
        const { cql } = await migrate(env);
        const child = await startScript(DRIVER, 'driver', home, env);
        return {
          cql,
          pid: child.pid,
          /** @param {Shape} shape @param {{ rate: number, forMs: number }} options `rate`: samples/s @returns {Promise<Latencies>} */
          pace: (shape, options) => child.ask('pace', { shape, ...options }),
          close: () => child.stop(),
        };
      }),

    /** A process that decodes, validates and encodes messages, and stores nothing. */
    alone: () =>
      once('alone', async (home) => {
        const child = await startScript(ALONE, 'encoder', home);
        return {
          /** @param {string} load @param {number} forMs @returns {Promise<number>} CPU µs a sample */
          cost: (load, forMs) => child.ask('cost', { shape: shapeOf(load), forMs }),
          /** @param {JsonForm} form @param {number} forMs @returns {Promise<number>} CPU µs a message of one value */
          jsonCost: (form, forMs) => child.ask('jsonCost', { form, forMs }),
          close: () => child.stop(),
        };
      }),

    /** @param {string} name ends a variant that is needed no more */
    async close(name) {
      await open.get(name)?.close();
      open.delete(name);
    },

    async stop() {
      for (const variant of open.values()) await variant.close();
      await publisher.stop();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openEnvironment>>} Environment */

/** @param {string} script @param {string} title @param {string} home folder of its log @param {NodeJS.ProcessEnv} [env] */
const startScript = (script, title, home, env) =>
  startChild(script, { title, log: join(home, `${title}.log`), nodeFlags: startFlags(), env });

/**
 * Each variant has a keyspace.
 *
 * @param {Database} database
 * @param {string} prefix of the keyspaces
 */
const createKeyspaces = ({ contactPoint }, prefix) => ({
  /** @param {string} name @param {string} [broker] URL @returns {NodeJS.ProcessEnv} settings of its processes */
  settings: (name, broker) => ({
    CQL_CONTACT_POINTS: contactPoint,
    CQL_LOCAL_DC: 'datacenter1',
    CQL_KEYSPACE: `${prefix}_${name.replaceAll(/\W/g, '_')}`,
    MQTT_CLIENT_ID: `bench-${name}`,
    MQTT_URL: broker,
  }),

  /**
   * Creates the keyspace if it is missing, with the table of one row per sample.
   *
   * @param {NodeJS.ProcessEnv} settings
   */
  async migrate(settings) {
    const config = readSettings(settings, { envFile: '' });
    await migrateDatabase(config);
    await createRowTable(config);
    return config;
  },
});
