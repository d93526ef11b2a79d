import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import cassandra from 'cassandra-driver';
import { startEngine } from '../../infra/engine/index.js';
import { freePort } from '../../infra/engine/ports.js';
import { ENGINE_DIR } from '../support/engine.js';
import { listProcesses } from '../support/processes.js';

const TIMEOUT_MS = 240_000;

/** @type {string} with a space, as people have them */
let dataDir;
/** @type {number} */
let port;
/** @type {import('../../infra/engine/run.js').Engine | null} */
let engine = null;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millrace engine-'));
  port = await freePort();
});

afterAll(async () => {
  await engine?.stop();
  await rm(dataDir, { recursive: true, maxRetries: 3 });
});

const start = async () => {
  engine = await startEngine({ dataDir, port, engineDir: ENGINE_DIR, fast: true });
  return engine;
};

/** @param {string} query */
async function cql(query) {
  const client = new cassandra.Client({
    contactPoints: [`127.0.0.1:${port}`],
    localDataCenter: 'datacenter1',
    queryOptions: { consistency: cassandra.types.consistencies.localOne },
  });
  try {
    return (await client.execute(query)).rows;
  } finally {
    await client.shutdown();
  }
}

/** @returns {Promise<number[]>} pids of the engine in our directory; its keeper's arguments name it, too */
const javas = async () =>
  (await listProcesses())
    .filter(({ command }) => /^\S*java .*CassandraDaemon/.test(command) && command.includes(dataDir))
    .map(({ pid }) => pid);

test(
  'what was written is there after a stop and a new start; one directory has one engine',
  async () => {
    const first = await start();
    await cql(
      "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
    );
    await cql('CREATE TABLE k.t (id int PRIMARY KEY, value double)');
    await cql('INSERT INTO k.t (id, value) VALUES (1, 21.5)');

    const another = startEngine({ dataDir, port: await freePort(), engineDir: ENGINE_DIR, fast: true });
    await expect(another).rejects.toMatchObject({
      code: 'data_dir_taken',
      message: expect.stringContaining(dataDir),
    });

    await first.stop();
    expect(await first.exited).toBe(null);
    expect(await javas()).toEqual([]);

    await start();
    expect(await cql('SELECT value FROM k.t WHERE id = 1')).toMatchObject([{ value: 21.5 }]);
  },
  TIMEOUT_MS,
);

test(
  'an engine that dies says so, names its log, and starts again with its data',
  async () => {
    const running = engine ?? (await start());
    for (const pid of await javas()) process.kill(pid, 'SIGKILL');
    const error = await running.exited;
    expect(error).toMatchObject({
      code: 'engine_failed',
      message: expect.stringContaining(running.log),
    });

    await start();
    // What was written in its last moments may be gone: a single node marks its commit log now and then only.
    expect(await cql('SELECT value FROM k.t WHERE id = 1')).toMatchObject([{ value: 21.5 }]);
  },
  TIMEOUT_MS,
);
