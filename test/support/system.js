import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { connect } from '../../api/store/connect.js';
import { connectStore } from '../../api/store/index.js';
import { migrateDatabase } from '../../api/store/migrate.js';
import { startSystem } from '../../api/system.js';
import { PERIODS_MS } from '../../common/periods.js';
import { readSettings } from '../../common/settings/index.js';
import { sharedContactPoint, uniqueName } from './engine.js';
import { dropKeyspace } from './keyspace.js';

/** @import { Logger } from 'pino' */
/** @import { Rate } from '../../api/access/http/rates.js' */
/** @import { Gate } from '../../api/store/session.js' */
/** @import { Periods } from '../../common/periods.js' */
/** @import { Config } from '../../common/settings/config.js' */

/** Longer than any test, in ms. */
const NEVER_MS = 86_400_000;

/**
 * The whole system in this process, on free ports, in a keyspace of its own on the shared database: embedded broker,
 * ingest, HTTP. To be stopped in `afterAll`.
 *
 * @param {object} [options]
 * @param {Record<string, string>} [options.settings] as in the environment, on top of a test's own
 * @param {() => number} [options.clock] epoch ms
 * @param {(error: Error) => void} [options.onFatal]
 * @param {Partial<Periods>} [options.periods] ms
 * @param {Rate} [options.wrongTokens]
 * @param {Logger} [options.logger] for tests that read the log
 * @param {Parameters<typeof startSystem>[0]['openStore']} [options.openStore]
 * @param {Parameters<typeof startSystem>[0]['openSource']} [options.openSource]
 */
export async function startTestSystem(options = {}) {
  const { settings = {}, clock, onFatal = failLoudly, periods, wrongTokens, openStore, openSource } = options;
  const { logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' }) } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-system-'));
  const config = readSettings(
    {
      CQL_CONTACT_POINTS: settings['CQL_CONTACT_POINTS'] ?? sharedContactPoint(),
      CQL_KEYSPACE: uniqueName('t'),
      DATA_DIR: dataDir,
      HTTP_PORT: '0',
      MQTT_PORT: '0',
      LATEST_GROUPS: '4',
      LOG_LEVEL: 'warn',
      ...settings,
    },
    { envFile: '' },
  );
  const { from } = await migrateDatabase(config);
  if (clock && from === 0) await installedAt(config.cql, clock());
  const system = await startSystem({
    config,
    version: 'test',
    logger,
    onFatal,
    clock,
    // A clock that the test holds is right by definition.
    clockDifference: clock && (async () => 0),
    // Automatic packing would interfere with tests. A test enables it if it needs it.
    periods: { ...PERIODS_MS, pack: NEVER_MS, ...periods },
    wrongTokens,
    openStore,
    openSource,
  });
  const httpUrl = `http://127.0.0.1:${system.httpPort}`;

  return {
    config,
    httpUrl,
    mqttPort: system.mqttPort,
    mqttUrl: `mqtt://127.0.0.1:${system.mqttPort}`,

    /** @param {string} path below /api/v1 @param {RequestInit} [init] */
    fetch: (path, init) => fetch(`${httpUrl}/api/v1${path}`, init),

    /** @param {string} path below /api/v1 @returns {Promise<any>} the JSON of a 200 */
    async get(path) {
      const response = await fetch(`${httpUrl}/api/v1${path}`);
      const body = await response.text();
      if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${body}`);
      return JSON.parse(body);
    },

    /**
     * Follows `next` to the end.
     *
     * @param {string} path below /api/v1, with its query
     * @returns {Promise<any[]>} the items of all pages
     */
    async all(path) {
      const items = [];
      let cursor = null;
      do {
        const page = await this.get(
          cursor ? `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}` : path,
        );
        items.push(...page.items);
        cursor = page.next;
      } while (cursor);
      return items;
    },

    /** A client of the driver's in the system's keyspace, which the caller shuts down. */
    openDatabase: () => connect(config.cql, { keyspace: config.cql.keyspace, applicationName: 'test' }),

    /** The store of another process, which the caller closes. @param {Gate} [gate] */
    openStore: (gate) =>
      connectStore({
        cql: config.cql,
        retention: config.retention,
        gate,
        observe: () => {},
        onStaleIndex: () => {},
      }),

    /** Stops the system alone; its keyspace stays, for another one to start on. */
    halt: () => system.stop(),

    async stop() {
      await system.stop();
      try {
        await dropKeyspace(config.cql);
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startTestSystem>>} TestSystem */

/** @param {Error} error */
function failLoudly(error) {
  throw error;
}

/**
 * Packing begins shortly before the first migration, which by the clock of a test may be at any time.
 *
 * @param {Config['cql']} cql
 * @param {number} at epoch ms
 */
async function installedAt(cql, at) {
  const database = await connect(cql, { keyspace: cql.keyspace, applicationName: 'test' });
  try {
    await database.execute(
      "UPDATE schema_version SET applied_at = ? WHERE part = 'millrace' AND version = 1",
      [new Date(at)],
      { prepare: true },
    );
  } finally {
    await database.shutdown();
  }
}
