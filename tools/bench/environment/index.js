import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingsOfBroker } from '../load/accounts.js';
import { startChild } from '../process/child.js';
import { startBroker } from './broker.js';
import { embeddedBroker } from './embedded.js';
import { startFront } from './front.js';
import { startFlags, startIngest } from './ingest.js';
import { createKeyspaces } from './keyspaces.js';
import { createLine } from './pipeline.js';
import { createLoop, startAlone, startNative, startWorkers } from './processes.js';
import { createWired } from './wired.js';

/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Database } from './database.js' */
/** @import { Front } from './front.js' */
/** @import { Guard } from '../load/accounts.js' */
/** @import { Changed } from './ingest.js' */
/** @import { Variant, Line } from './pipeline.js' */

const PUBLISHER = fileURLToPath(new URL('../publisher/main.js', import.meta.url));

/** Connections of the publisher to a broker. */
const CONNECTIONS = 8;

/**
 * The environment of all measurements: a database, one publisher, and the variants. Each variant starts when it is first needed.
 *
 * @param {object} options
 * @param {string} options.dir where all of them keep what they keep
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

  /** @param {string} name @param {{ changed?: Changed, guard?: Guard }} options */
  const openLine = (name, { changed, guard }) =>
    once(name, async (home) => {
      const broker = await startBroker(join(home, 'broker'), guard);
      const env = { ...settings(name, broker.url), ...broker.settings };
      await migrate(env);
      const ingest = await startIngest({ name, dir: home, settings: env, changed });
      return createLine({ name, broker, ingest, publisher, connections: CONNECTIONS });
    });

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

  return {
    /** Where all of it is kept. */
    dir,

    /** Its pid. */
    get database() {
      return database.pid;
    },

    /** Ends the database with SIGKILL, and starts it again; where it is one that we started. */
    kill: database.kill,
    start: database.start,

    /** With which it is spoken to by TLS, and Mosquitto as well; where the database is one that we started. */
    certificates: database.certificates,

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

    /**
     * The whole way, through a broker of its own.
     *
     * @param {string} name
     * @param {Changed} [changed] none: our own ingest, as it is
     */
    pipeline: (name, changed) => openLine(name, { changed }),

    /** The same, with our own ingest, as an installation has it that others can reach. @param {string} name @param {Guard} guard */
    guarded: (name, guard) => openLine(name, { guard }),

    /** Our own ingest with the broker in it. @param {string} name @param {Guard} guard */
    embedded: (name, guard) =>
      once(name, async (home) => {
        const env = { ...settings(name), ...settingsOfBroker(guard) };
        await migrate(env);
        const ingest = await startIngest({ name, dir: home, settings: env });
        const broker = await embeddedBroker(ingest, guard, CONNECTIONS);
        return createLine({ name, broker, ingest, publisher, connections: CONNECTIONS });
      }),

    /** Our own ingest, as it is, with a wire on which its acknowledgements can be read. */
    wired: () =>
      once('wired', async (home) => {
        const broker = await startBroker(join(home, 'broker'));
        const env = settings('wired', await publisher.ask('wire', broker.url));
        const { cql } = await migrate(env);
        const ingest = await startIngest({ name: 'wired', dir: home, settings: env });
        const line = createLine({ name: 'wired', broker, ingest, publisher, connections: CONNECTIONS });
        return createWired({ line, broker, publisher, connections: CONNECTIONS, cql });
      }),

    /** @param {Line} line serves what it stores @returns {Promise<Front>} */
    front: (line) =>
      once(`${line.name}-front`, (home) =>
        startFront({ name: `${line.name}-front`, dir: home, settings: settings(line.name, line.url) }),
      ),

    /** Ingest without a broker. @returns {Promise<Variant>} */
    loop: () =>
      once('loop', async (home) => {
        const env = settings('loop');
        await migrate(env);
        const ingest = await startIngest({ name: 'loop', dir: home, settings: env, changed: { loop: true } });
        return createLoop({ name: 'loop', ingest });
      }),

    /** The database's own limit. */
    native: () =>
      once('native', async (home) => {
        const { cql, retention } = await migrate(settings('native'));
        return startNative({
          dir: home,
          contactPoint: database.contactPoint,
          cql,
          groups: retention.latestGroups,
        });
      }),

    /** The cost of a message without anything around it. */
    alone: () => once('alone', (home) => startAlone(home, startFlags())),

    /** Our store, used by very many at once. */
    workers: () =>
      once('workers', async (home) => {
        const env = settings('workers');
        await migrate(env);
        return startWorkers(home, { settings: env, nodeFlags: startFlags() });
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
