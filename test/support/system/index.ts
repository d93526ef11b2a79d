import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, QueryOptions } from 'cassandra-driver';
import type { Logger } from 'pino';
import pino from 'pino';
import type { Rate } from '../../../api/access/http/rate-limits.ts';
import { connect } from '../../../api/store/connect.ts';
import { connectStore } from '../../../api/store/index.ts';
import { startSystem } from '../../../api/system.ts';
import type { OtherPeriods } from '../../../common/periods.ts';
import { sharedContactPoint } from '../database/engine.ts';
import { useKeyspace } from '../database/keyspace.ts';
import { pagesOf } from '../http/pages.ts';
import type { Json } from '../json.ts';
import { runCleanUps } from '../run-clean-ups.ts';

/** A period that is longer than any test, in ms. */
const NEVER_MS = 86_400_000;

/**
 * Starts the whole system in this process, on free ports, in an empty keyspace of the shared database: embedded broker,
 * ingest, HTTP. The test stops it in `afterAll`.
 */
export async function startTestSystem(
  options: {
    /** as in the environment, added to the defaults of tests */
    settings?: Record<string, string>;
    /** contact point of a proxy of the test, through which the system connects to its database */
    proxy?: string;
    /** epoch ms */
    clock?: () => number;
    onFatal?: (error: Error) => void;
    /** ms */
    periods?: OtherPeriods;
    wrongTokens?: Rate;
    /** for tests that read the log */
    logger?: Logger;
    openStore?: Parameters<typeof startSystem>[0]['openStore'];
    openSource?: Parameters<typeof startSystem>[0]['openSource'];
  } = {},
) {
  const { settings = {}, proxy, clock, onFatal = failLoudly, periods, wrongTokens } = options;
  const { openStore, openSource } = options;
  const { logger = pino({ level: process.env['TEST_LOG'] ?? 'silent' }) } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-system-'));
  const { config: direct, use } = await useKeyspace(
    {
      CQL_CONTACT_POINTS: settings['CQL_CONTACT_POINTS'] ?? sharedContactPoint(),
      DATA_DIR: dataDir,
      HTTP_PORT: '0',
      MQTT_PORT: '0',
      LATEST_GROUPS: '4',
      LOG_LEVEL: 'warn',
      ...settings,
    },
    clock,
  );
  const config = proxy ? { ...direct, cql: { ...direct.cql, contactPoints: [proxy] } } : direct;
  const system = await startSystem({
    config,
    version: 'test',
    logger,
    onFatal,
    clock,
    // A clock that the test sets is correct by definition.
    clockDifference: clock && (async () => 0),
    // Automatic packing, learning and roll-ups would interfere with tests. A test enables them if it needs them.
    periods: {
      pack: NEVER_MS,
      learn: NEVER_MS,
      stream: NEVER_MS,
      rollUps: NEVER_MS,
      ...periods,
    },
    wrongTokens,
    openStore,
    openSource,
  });
  const httpUrl = `http://127.0.0.1:${system.httpPort}`;
  const cleanUps: Array<() => unknown> = [];
  let database: Promise<Client> | undefined;

  /** @param path below /api/v1 @returns the JSON of a 200 */
  async function get(path: string): Promise<Json> {
    const response = await fetch(`${httpUrl}/api/v1${path}`);
    const body = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${body}`);
    return JSON.parse(body);
  }

  return {
    config,
    /** The settings of a command that works on the database of this system. */
    databaseSettings: {
      CQL_CONTACT_POINTS: String(config.cql.contactPoints),
      CQL_KEYSPACE: config.cql.keyspace,
      LATEST_GROUPS: String(config.retention.latestGroups),
    },
    httpUrl,
    mqttPort: system.mqttPort,
    mqttUrl: `mqtt://127.0.0.1:${system.mqttPort}`,

    /** @param path below /api/v1 */
    fetch: (path: string, init?: RequestInit) => fetch(`${httpUrl}/api/v1${path}`, init),

    /** Sends JSON. @param path below /api/v1 */
    post(path: string, body: unknown, method: string = 'POST') {
      const headers = { 'Content-Type': 'application/json' };
      return fetch(`${httpUrl}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    },

    get,

    /** @param path below /api/v1, with its query @returns the items of all pages */
    all: async (path: string) => (await pagesOf({ get }, path)).flat(),

    openDatabase,

    async execute(query: string, params?: unknown[], options?: QueryOptions) {
      database ??= openDatabase();
      return await (await database).execute(query, params, options);
    },

    /** Opens a store as another process would. `stop` closes it. */
    async openStore() {
      const { cql, retention } = config;
      const store = await connectStore({ cql, retention, observe: () => {}, onStaleIndex: () => {} });
      cleanUps.push(() => store.close());
      return store;
    },

    /** Runs a clean-up at the beginning of `stop`: those registered last run first. */
    beforeStop: (cleanUp: () => unknown) => void cleanUps.push(cleanUp),

    /** Stops the system, and keeps its keyspace for another system. Clients and stores of the test stay open until `stop`. */
    async halt() {
      await stopSystem();
      use.leave();
    },

    async stop() {
      // After a failure the rest is stopped too, because a running system would hold its ports and its database.
      await runCleanUps([release, stopSystem, ...cleanUps.splice(0)]);
    },
  };

  /** Opens a client of the driver in the system's keyspace. `stop` shuts it down. */
  async function openDatabase() {
    const client = await connect(config.cql, { keyspace: config.cql.keyspace, applicationName: 'test' });
    cleanUps.push(() => client.shutdown());
    return client;
  }

  /** Checks at the end of every test that each received measurement was stored, merged, refused or skipped. */
  async function stopSystem() {
    await system.stop();
    const { received, stored, merged, refused, skipped } = system.measurements();
    if (received !== stored + merged + refused + skipped)
      throw new Error(`measurements are unaccounted for: ${JSON.stringify(system.measurements())}`);
  }

  async function release() {
    try {
      await use.release();
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  }
}

export type TestSystem = Awaited<ReturnType<typeof startTestSystem>>;

function failLoudly(error: Error) {
  throw error;
}
