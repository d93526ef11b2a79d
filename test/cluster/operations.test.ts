import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import mqtt from 'mqtt';
import { migrateDatabase } from '../../api/store/setup/index.ts';
import type { Config } from '../../common/settings/config.ts';
import { readSettings } from '../../common/settings/index.ts';
import type { Cluster } from '../../infra/engine/cluster.ts';
import { startCluster } from '../../infra/engine/index.ts';
import type { Member } from '../../infra/engine/member.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { identifyDevice } from '../../schema/ids.ts';
import { HOUR_MS } from '../../schema/rules.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { ENGINE_DIR } from '../support/database/engine.ts';
import { dropKeyspace } from '../support/database/keyspace.ts';
import { startFleet } from './kit/fleet.ts';
import { createJudge } from './kit/judge.ts';
import { createOperator, nodeName } from './kit/operator.ts';
import { createProgress } from './kit/progress.ts';
import { createWorker } from './kit/worker.ts';

// The scripts of infra/operations, and the commands of docs/how-to/operate-a-cluster.md, run on three nodes of Cassandra. Each test
// continues with the state that the previous test left.

/** The suite takes about three minutes on a quiet machine, and several times that on a busy one. */
const TIMEOUT_MS = 900_000;
const KEYSPACE = 'operated';

const seed = jest.getSeed() >>> 0;
const { report, reportStatus } = createProgress(process.stderr);

let directory: string;
let ledger: string;
let cluster: Cluster;
let settings: Record<string, string>;
let config: Config;
let operator: Awaited<ReturnType<typeof createOperator>>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-operations-'));
  ledger = join(directory, 'fleet.ledger');
  cluster = await startCluster({
    dataDir: join(directory, 'cluster'),
    engineDir: ENGINE_DIR,
    onStatus: reportStatus,
  });
  settings = {
    CQL_CONTACT_POINTS: cluster.contactPoints.join(','),
    CQL_KEYSPACE: KEYSPACE,
    CURSOR_SECRET: 'one secret for all',
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
    MQTT_PORT: String(await steadyPort()),
  };
  config = readSettings(settings, { envFile: '' });
  report('three nodes are up');
  await migrateDatabase(config);
  await cluster.keepSchema();
  operator = await createOperator({ directory, cluster, settings });
  report('the keyspace has three replicas');
}, TIMEOUT_MS);

afterAll(async () => {
  await operator?.stop();
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

async function startWorker() {
  const worker = createWorker('the process that is broker and ingest', settings);
  afterwards(worker.kill);
  await worker.start();
  return worker;
}

const brokerUrl = () => `mqtt://127.0.0.1:${settings['MQTT_PORT']}`;

function startDevices(devices?: number) {
  const fleet = startFleet({ broker: brokerUrl(), ledger, seed, devices });
  afterwards(fleet.kill);
  return fleet;
}

/** The acknowledged samples are stored, and no others are. The check reads at LOCAL_QUORUM. */
async function expectAllStored() {
  const { acknowledged, stored } = await createJudge({ cluster, config }).agreement(ledger);
  expect(acknowledged).toBeGreaterThan(2000);
  report(`${acknowledged} samples acknowledged, ${stored} stored: they agree`);
}

const node = (number: number): Member => cluster.nodes[number - 1] as Member;

test(
  'Backup and restore: the keyspace is dropped: the snapshot restores every sample',
  async () => {
    const worker = await startWorker();
    const fleet = startDevices();
    await fleet.progress(300);
    await fleet.stop();
    const restore = () => operator.operate('restore-snapshot.sh', { TAG: 'nightly', DATA: 'data' });
    await expect(restore()).rejects.toThrow(/Processes run in operated/);
    report('restore is refused while a process runs');
    await worker.stop();
    for (const each of cluster.nodes) await each.nodetool(['snapshot', '-t', 'nightly', KEYSPACE]);
    report('each node has its snapshot');
    await dropKeyspace(config.cql);
    report('the keyspace is dropped');
    await restore();
    await cluster.keepSchema();
    report('restored');
    await expectAllStored();
  },
  TIMEOUT_MS,
);

test(
  'Repair of the cluster: a node missed writes during an outage: the repair copies the writes to that node',
  async () => {
    const device = `missed-${seed}`;
    // This sample is older than all samples of the ledger, so no comparison counts it as unknown.
    const ts = Date.now() - 2 * HOUR_MS;
    const worker = await startWorker();
    for (const other of [node(1), node(2)]) await other.nodetool(['disablehandoff']);
    await node(3).kill();
    const client = await mqtt.connectAsync(brokerUrl());
    afterwards(() => client.endAsync(true));
    const sample = JSON.stringify({ sensor_id: 's', ts, value: 1 });
    await client.publishAsync(`iot/v1/${device}/measurements`, sample, { qos: 1 });
    await client.endAsync();
    await worker.stop();
    report('a sample is written while node 3 is away');
    await cluster.start();
    operator.equip(node(3));
    for (const other of [node(1), node(2)]) await other.nodetool(['enablehandoff']);

    const key = `${identifyDevice(device)?.id}:${Math.floor(ts / HOUR_MS) * HOUR_MS}:0`;
    const filesOf = async (number: number) => {
      await node(number).nodetool(['flush', KEYSPACE, 'message']);
      return (await node(number).nodetool(['getsstables', KEYSPACE, 'message', key])).trim();
    };
    expect(await filesOf(1)).toContain('-Data.db');
    expect(await filesOf(3)).toBe('');
    report('node 3 lacks the writes of its outage');
    for (const each of cluster.nodes) {
      await each.nodetool(['repair', '--full', '--partitioner-range', KEYSPACE]);
    }
    expect(await filesOf(3)).toContain('-Data.db');
    report('repaired');
  },
  TIMEOUT_MS,
);

test(
  'Cassandra cluster: a fourth node joins and leaves: the node stores a part of the rows, and no sample is lost',
  async () => {
    const fourth = cluster.add();
    await fourth.start();
    for (const each of cluster.nodes.slice(0, 3)) await each.nodetool(['cleanup', KEYSPACE]);
    report('a fourth node has joined');
    const folder = join(directory, 'cluster', nodeName(fourth), 'cassandra', 'data', KEYSPACE);
    const table = readdirSync(folder).find((name) => name.startsWith('message-'));
    expect(readdirSync(join(folder, String(table))).filter((name) => name.endsWith('-Data.db'))).not.toEqual(
      [],
    );
    await expectAllStored();

    await fourth.nodetool(['decommission']);
    await cluster.forget(fourth);
    report('the fourth node has left');
    expect(await node(1).nodetool(['status'])).not.toContain('127.0.0.4');
    await expectAllStored();
  },
  TIMEOUT_MS,
);

test(
  'Upgrade of the cluster: all nodes restart in turn under load: every sample of the devices is acknowledged and stored',
  async () => {
    const worker = await startWorker();
    const fleet = startDevices(10);
    await fleet.progress(50);
    await operator.operate('upgrade.sh', { TO: '5.0.9', INSTALL: 'true' });
    await fleet.progress(50);
    const { made, acknowledged } = await fleet.stop();
    expect(acknowledged).toBe(made);
    expect(worker.defects).toEqual([]);
    report(`all nodes restarted while devices sent ${made} samples`);
    await expectAllStored();
  },
  TIMEOUT_MS,
);
