import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { migrateDatabase } from '../../api/store/setup/index.ts';
import { readSettings } from '../../common/settings/index.ts';
import type { Cluster } from '../../infra/engine/cluster.ts';
import { startCluster } from '../../infra/engine/index.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { runChaos } from '../chaos/run.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { ENGINE_DIR } from '../support/database/engine.ts';
import { startFleet } from './kit/fleet.ts';
import { createJudge } from './kit/judge.ts';
import { createProgress } from './kit/progress.ts';
import { sentByPartition } from './kit/sent.ts';
import { createWorker } from './kit/worker.ts';

/** The suite takes about five minutes on a quiet machine, and several times that on a busy one. */
const TIMEOUT_MS = 1_200_000;
const KILLS = 12;

/** An unsigned 32-bit number. Jest also draws negative ones, which no flag of the simulator accepts. */
const seed = jest.getSeed() >>> 0;
const { report, reportStatus } = createProgress(process.stderr);

let directory: string;
let cluster: Cluster;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-cluster-'));
  cluster = await startCluster({
    dataDir: join(directory, 'cluster'),
    engineDir: ENGINE_DIR,
    onStatus: reportStatus,
  });
  report('three nodes are up');
}, TIMEOUT_MS);

afterAll(async () => {
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

test(
  'Cassandra driver: keyspace with one replica of each partition: every request goes to the node that has the partition',
  async () => {
    const devices = Array.from({ length: 30 }, (_, index) => `device-${index}`);
    const sent = await sentByPartition(cluster, { devices, afterwards });
    expect(sent.filter(({ replicas }) => replicas.length !== 1)).toEqual([]);
    expect(sent.filter(({ coordinator, replicas }) => coordinator !== replicas[0])).toEqual([]);
    expect(new Set(sent.map(({ coordinator }) => coordinator)).size).toBe(3);
    expect(sent.length).toBeGreaterThan(100);
    const written = sent.filter(({ cql }) => cql.startsWith('INSERT INTO message'));
    expect(written.length).toBeGreaterThanOrEqual(devices.length);
    report(`${sent.length} requests went to the node that has their partition`);
  },
  TIMEOUT_MS,
);

test(
  'Chaos: random kills, pauses, clock steps and network failures: every acknowledged sample is readable, once',
  async () => {
    const { isGood, outcomes } = await runChaos({
      cluster,
      directory,
      timelines: join('.data', 'chaos'),
      seed,
      kills: KILLS,
      afterwards,
      showStatus: reportStatus,
      print: report,
    });
    expect(isGood).toBe(true);
    const [{ faults, acknowledged, checked } = { faults: [], acknowledged: 0, checked: 0 }] = outcomes;
    expect(faults.filter(({ kind }) => kind === 'kill')).toHaveLength(KILLS);
    expect(acknowledged).toBeGreaterThan(100_000);
    expect(checked).toBeGreaterThan(acknowledged);
  },
  TIMEOUT_MS,
);

test(
  'Check for lost samples: a process acknowledges before it commits, and is killed: the check reports missing samples',
  async () => {
    const settings = {
      CQL_CONTACT_POINTS: cluster.contactPoints.join(','),
      CQL_KEYSPACE: 'broken',
      HTTP_PORT: '0',
      LATEST_GROUPS: '4',
      LOG_LEVEL: 'info',
      MQTT_PORT: String(await steadyPort()),
    };
    const config = readSettings(settings, { envFile: '' });
    await migrateDatabase(config);
    await cluster.keepSchema();
    const broken = createWorker('broken', settings, 'test/cluster/kit/ack-before-commit.ts');
    const worker = createWorker('the process that is broker and ingest', settings);
    for (const each of [broken, worker]) afterwards(each.kill);
    await broken.start();
    const ledger = join(directory, 'ack-before-commit.ledger');
    const fleet = startFleet({ broker: `mqtt://127.0.0.1:${settings.MQTT_PORT}`, ledger, seed });
    afterwards(fleet.kill);
    await fleet.progress(300);
    report('kill -9 of a process that acknowledges before it commits');
    await broken.kill();
    await worker.start();
    await fleet.recovery();
    await fleet.stop();
    const { agree, found } = await createJudge({ cluster, config }).compare(ledger);
    expect(worker.defects).toEqual([]);
    expect(agree).toBe(false);
    expect(found.missing.count).toBeGreaterThan(0);
    report(`${found.missing.count} acknowledged samples are missing, and the check reports them`);
  },
  TIMEOUT_MS,
);
