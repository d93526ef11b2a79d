import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tls } from '../../../infra/engine/cassandra-yaml.ts';
import type { Profile } from '../../../infra/engine/command.ts';
import { startEngine } from '../../../infra/engine/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import type { Engine } from '../../../infra/engine/process/run.ts';

/** The jars of the checkout, downloaded once and shared with `npm run dev`. */
export const ENGINE_DIR = fileURLToPath(new URL('../../../.data/engine', import.meta.url));

/** The environment variable with the address of the shared database, which the global set-up sets for the test files. */
export const CONTACT_POINT = 'TEST_CQL_CONTACT_POINT';

/**
 * Returns the address of the database that all integration tests share. Each test file uses its own keyspace, see `uniqueName`.
 * @returns contact point, `127.0.0.1:PORT`; data center `datacenter1`
 */
export function sharedContactPoint(): string {
  const contactPoint = process.env[CONTACT_POINT];
  if (!contactPoint) throw new Error('The shared database runs for integration tests only.');
  return contactPoint;
}

/** @param prefix lower case @returns a CQL name that no other test uses */
export const uniqueName = (prefix: string): string =>
  `${prefix}_${process.pid}_${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;

/** A stop writes the tables' definitions to disk. On a busy machine this may take longer than the usual 9 s. */
const STOP_WITHIN_MS = 60_000;

export interface TestEngine {
  /** stays the same */
  contactPoint: string;
  start: () => Promise<void>;
  /** data kept */
  stop: () => Promise<void>;
  /** at once, as a power failure would; if a database starts again, its profile must be `fast` */
  kill: () => Promise<void>;
  /** stops it and removes its data; the test calls it in `afterAll` */
  dispose: () => Promise<void>;
}

export async function startDisposable(
  launch: (place: { dataDir: string; port: number; engineDir: string }) => Promise<Engine>,
): Promise<TestEngine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-test-'));
  const place = { dataDir, port: await steadyPort(), engineDir: ENGINE_DIR };
  const remove = () => rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  let engine = await launch(place).catch(async (error) => {
    await remove();
    throw error;
  });
  return {
    contactPoint: engine.contactPoint,
    start: async () => {
      engine = await launch(place);
    },
    stop: () => engine.stop({ withinMs: STOP_WITHIN_MS }),
    kill: async () => {
      engine.kill();
      await engine.exited;
    },
    dispose: async () => {
      await engine.stop();
      await remove();
    },
  };
}

export const startTestEngine = (options?: {
  profile?: Profile;
  auth?: boolean;
  tls?: Tls;
  settings?: Record<string, string>;
  durable?: boolean;
  onStatus?: (text: string) => void;
}): Promise<TestEngine> =>
  startDisposable((place) => startEngine({ ...place, profile: 'disposable', ...options }));
