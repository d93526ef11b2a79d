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
 * @property {(text: string) => void} status shows the present measurement
 * @property {(partial: unknown) => void} [keep] writes the results so far into the raw file, in case the run fails later
 */

/**
 * @typedef {object} BenchFlags
 * @property {string[]} only names of the parts to run
 * @property {string[]} shapes
 * @property {number} rounds
 * @property {number} runMs
 * @property {number} warmMs warm-up before each run, while its load runs
 * @property {number} watchMs time for which an open dashboard is watched
 * @property {number[]} inFlight numbers of requests in flight that are tried for a baseline
 * @property {number} bootMs time of load before the first measurement
 * @property {Array<'K' | 'P'>} [classes] durability classes in which the peers are compared
 * @property {boolean} [quick] true: a rough run of a few minutes
 */

const PUBLISHER = fileURLToPath(new URL('../publisher/main.js', import.meta.url));
const ALONE = fileURLToPath(new URL('../variants/alone.js', import.meta.url));
const DRIVER = fileURLToPath(new URL('../variants/driver.js', import.meta.url));

/** Number of connections from the publisher to a broker. */
const CONNECTIONS = 8;

/**
 * Opens the environment of all measurements: a database, one publisher, and the variants. Each variant starts when it is first
 * needed.
 *
 * @param {object} options
 * @param {string} options.dir folder of all files of the environment
 * @param {Database} options.database
 * @param {string} [options.prefix] prefix of the keyspaces
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
   * Starts a variant, unless a variant of this name already runs.
   *
   * @template {{ close: () => Promise<void> }} C
   * @param {string} name
   * @param {(home: string) => Promise<C>} start
   * @returns {Promise<C>}
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
   * Starts a pipeline with its own broker.
   *
   * @param {string} name
   * @param {Changed} [changed] missing: ingest runs unchanged
   * @param {object} [options]
   * @param {NodeJS.ProcessEnv} [options.more] further settings of ingest
   * @param {boolean} [options.wired] ingest reaches its broker through the publisher's wire
   * @param {string} [options.keyspace] default: a keyspace of the pipeline's own
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
        /** @returns {Promise<Reading>} latencies since the last call */
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

    /** `kill` ends the database with SIGKILL, and `start` starts it again. Both are missing if the bench did not start the database. */
    kill: database.kill,
    start: database.start,

    /** Cassandra's nodetool. Missing if the bench did not start the database. */
    get nodetool() {
      return database.nodetool;
    },

    /** The publisher, which all measurements share, and the number of its connections to a broker. */
    publisher,
    connections: CONNECTIONS,

    /** @param {string} name @param {string} [broker] URL @returns {NodeJS.ProcessEnv} settings of a variant's processes */
    settings,

    /** Starts another kind of variant, unless a variant of this name already runs. */
    variant: once,

    /**
     * Creates the tables of a variant that is not started yet, so that data can be loaded.
     *
     * @param {string} name
     * @returns {Promise<Config>}
     */
    prepare: (name) => migrate(settings(name)),

    pipeline,

    /** Ingest unchanged, with a wire on which its acknowledgements can be observed. */
    wired: () => pipeline('wired', undefined, { wired: true }),

    /** Starts an API process that serves the data of a line. @param {Line} line @returns {Promise<Front>} */
    front: (line) =>
      once(`${line.name}-front`, (home) =>
        startFront({ name: `${line.name}-front`, dir: home, settings: settings(line.name, line.url) }),
      ),

    /** Starts ingest without a broker: the ingest process makes the messages itself. @returns {Promise<Variant>} */
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

    /** Starts the driver alone: a process that writes the rows of a load, and decodes no messages. */
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

    /** Starts a process that decodes, validates and encodes messages, and stores nothing. */
    alone: () =>
      once('alone', async (home) => {
        const child = await startScript(ALONE, 'encoder', home);
        return {
          /** @param {string} load @param {number} forMs @returns {Promise<number>} CPU µs per sample */
          cost: (load, forMs) => child.ask('cost', { shape: shapeOf(load), forMs }),
          /** @param {JsonForm} form @param {number} forMs @returns {Promise<number>} CPU µs per message of one value */
          jsonCost: (form, forMs) => child.ask('jsonCost', { form, forMs }),
          close: () => child.stop(),
        };
      }),

    /** Closes a variant that is no longer needed. @param {string} name */
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

/** @param {string} script @param {string} title @param {string} home folder of the log @param {NodeJS.ProcessEnv} [env] */
const startScript = (script, title, home, env) =>
  startChild(script, { title, log: join(home, `${title}.log`), nodeFlags: startFlags(), env });

/**
 * Creates a keyspace for each variant.
 *
 * @param {Database} database
 * @param {string} prefix prefix of the keyspaces
 */
const createKeyspaces = ({ contactPoint }, prefix) => ({
  /** @param {string} name @param {string} [broker] URL @returns {NodeJS.ProcessEnv} settings of the processes of a variant */
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
