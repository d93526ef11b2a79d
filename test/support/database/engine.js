import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEngine } from '../../../infra/engine/index.js';
import { steadyPort } from '../../../infra/engine/ports.js';

/** @import { Tls } from '../../../infra/engine/cassandra-yaml.js' */
/** @import { Profile } from '../../../infra/engine/command.js' */

/** The jars of the checkout, downloaded once and shared with `npm run dev`. */
export const ENGINE_DIR = fileURLToPath(new URL('../../../.data/engine', import.meta.url));

/** The environment variable with the address of the shared database, which the global set-up sets for the test files. */
export const CONTACT_POINT = 'TEST_CQL_CONTACT_POINT';

/**
 * Returns the address of the database that all integration tests share. Each test file uses its own keyspace, see `uniqueName`.
 *
 * @returns {string} contact point, `127.0.0.1:PORT`; data center `datacenter1`
 */
export function sharedContactPoint() {
  const contactPoint = process.env[CONTACT_POINT];
  if (!contactPoint) throw new Error('The shared database runs for integration tests only.');
  return contactPoint;
}

/** @param {string} prefix lower case @returns {string} a CQL name that no other test uses */
export const uniqueName = (prefix) =>
  `${prefix}_${process.pid}_${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;

/** A stop writes the tables' definitions to disk. On a busy machine this may take longer than the usual 9 s. */
const STOP_WITHIN_MS = 60_000;

/**
 * A separate database for one test, which can stop and start it.
 *
 * @typedef {object} TestEngine
 * @property {string} contactPoint stays the same
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop data kept
 * @property {() => void} kill at once, as a power failure would; if it starts again, its profile must be `fast`
 * @property {() => Promise<void>} dispose stops it and removes its data; the test calls it in `afterAll`
 */

/**
 * Creates and starts a database that only the caller uses.
 *
 * @param {{ profile?: Profile, auth?: boolean, tls?: Tls, settings?: Record<string, string>, durable?: boolean, onStatus?: (text: string) => void }} [options]
 * @returns {Promise<TestEngine>}
 */
export async function startTestEngine(options = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  const port = await steadyPort();
  const launch = () =>
    startEngine({ dataDir, port, engineDir: ENGINE_DIR, profile: 'disposable', ...options });
  const remove = () => rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  let engine = await launch().catch(async (error) => {
    await remove();
    throw error;
  });
  return {
    contactPoint: engine.contactPoint,
    start: async () => {
      engine = await launch();
    },
    stop: () => engine.stop({ withinMs: STOP_WITHIN_MS }),
    kill: () => engine.kill(),
    dispose: async () => {
      await engine.stop();
      await remove();
    },
  };
}
