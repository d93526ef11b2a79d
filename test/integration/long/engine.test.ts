import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { startEngine } from '../../../infra/engine/index.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import type { Engine } from '../../../infra/engine/process/run.ts';
import { ENGINE_DIR } from '../../support/database/engine.ts';
import { listProcesses } from '../../support/processes/index.ts';
import { until } from '../../support/until.ts';

const TIMEOUT_MS = 240_000;

/** with a space, because folders of users may have one */
let dataDir: string;
let port: number;
let engine: Engine | null = null;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'millrace engine-'));
  port = await steadyPort();
});

afterAll(async () => {
  await engine?.stop();
  await rm(dataDir, { recursive: true, maxRetries: 3 });
});

const start = async () => {
  engine = await startEngine({ dataDir, port, engineDir: ENGINE_DIR, fast: true });
  return engine;
};

const cql = async (query: string) => (await cqlOf((client) => client.execute(query))).rows;

async function cqlOf<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new cassandra.Client({
    contactPoints: [`127.0.0.1:${port}`],
    localDataCenter: 'datacenter1',
    queryOptions: { consistency: cassandra.types.consistencies.localOne },
  });
  try {
    return await work(client);
  } finally {
    await client.shutdown();
  }
}

/** @returns pids of the engine in this directory, without its supervisor, whose arguments also name it */
const javas = async (): Promise<number[]> =>
  (await listProcesses())
    .filter(({ command }) => /^\S*java .*CassandraDaemon/.test(command) && command.includes(dataDir))
    .map(({ pid }) => pid);

test(
  'Local Cassandra: stopped and started: the data is there; a second Cassandra in its data directory is refused',
  async () => {
    const first = await start();
    await cql(
      "CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
    );
    await cql('CREATE TABLE k.t (id int PRIMARY KEY, value double)');
    await cql('INSERT INTO k.t (id, value) VALUES (1, 21.5)');

    const another = startEngine({ dataDir, port: await steadyPort(), engineDir: ENGINE_DIR, fast: true });
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
  'Local Cassandra: started as durable, and killed under load: every acknowledged write is stored',
  async () => {
    await engine?.stop();
    const start = () => startEngine({ dataDir, port, engineDir: ENGINE_DIR, fast: true, durable: true });
    engine = await start();
    const pids = await javas();
    const answered: number[] = [];
    await cqlOf(async (client) => {
      let next = 1000;
      const write = async () => {
        for (let id = next++; ; id = next++) {
          await client.execute(`INSERT INTO k.t (id, value) VALUES (${id}, ${id})`);
          answered.push(id);
        }
      };
      // Each writer continues until the engine has ended.
      const writers = Promise.allSettled(Array.from({ length: 16 }, write));
      await until(() => answered.length > 500);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await writers;
    });
    await engine.exited;

    engine = await start();
    const rows = await cql('SELECT id FROM k.t');
    const stored = new Set(rows.map((row) => row['id']));
    expect(answered.filter((id) => !stored.has(id))).toEqual([]);
  },
  TIMEOUT_MS,
);
