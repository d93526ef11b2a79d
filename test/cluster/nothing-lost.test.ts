import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { migrateDatabase } from '../../api/store/setup/index.ts';
import { readSettings } from '../../common/settings/index.ts';
import type { Cluster } from '../../infra/engine/cluster.ts';
import { startCluster } from '../../infra/engine/index.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { createRandom } from '../../simulator/random.ts';
import { useCleanUps } from '../support/clean-ups.ts';
import { ENGINE_DIR } from '../support/database/engine.ts';
import { startTcpProxy } from '../support/http/tcp-proxy.ts';
import { startMosquitto } from '../support/mqtt/mosquitto.ts';
import { type PacketWatch, startMqttProxy } from '../support/mqtt/mqtt-proxy.ts';
import type { Script } from '../support/processes/api-process.ts';
import { until } from '../support/until.ts';
import { injectFaults } from './kit/chaos.ts';
import { createDeliveryRecord, noteLostMessage } from './kit/deliveries.ts';
import { cuts, databaseFaults, killWorker, restartMosquitto } from './kit/faults.ts';
import { startFleet } from './kit/fleet.ts';
import { createJudge, type Judge } from './kit/judge.ts';
import { createProgress } from './kit/progress.ts';
import { sentByPartition } from './kit/sent.ts';
import { createWorker, type Worker } from './kit/worker.ts';

/** The suite takes about five minutes on a quiet machine, and several times that on a busy one. */
const TIMEOUT_MS = 900_000;

/** An unsigned 32-bit number. Jest also draws negative ones, which no flag of the simulator accepts. */
const seed = jest.getSeed() >>> 0;
const { report, reportStatus } = createProgress(process.stderr);

let directory: string;
let cluster: Cluster;
let installation: Record<string, string>;
let judge: Judge;

beforeAll(async () => {
  report(`repeat these faults with: npm run test:cluster -- --seed ${jest.getSeed()}`);
  directory = await mkdtemp(join(tmpdir(), 'millrace-cluster-'));
  cluster = await startCluster({
    dataDir: join(directory, 'cluster'),
    engineDir: ENGINE_DIR,
    onStatus: reportStatus,
  });
  report('three nodes are up');
  installation = {
    CQL_CONTACT_POINTS: cluster.contactPoints.join(','),
    CQL_KEYSPACE: 'chaos',
    CURSOR_SECRET: 'one secret for all',
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
  };
  const config = readSettings(installation, { envFile: '' });
  // A deployment may start all processes at once. Each process migrates, and each one has another contact point.
  const configs = cluster.contactPoints.map((node) => ({
    ...config,
    cql: { ...config.cql, contactPoints: [node] },
  }));
  const migrated = await Promise.all(configs.map((each) => migrateDatabase(each)));
  expect(migrated.filter(({ from }) => from === 0)).toHaveLength(1);
  await cluster.keepSchema();
  judge = createJudge({ cluster, config });
  report('the keyspace has three replicas');
}, TIMEOUT_MS);

afterAll(async () => {
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

async function startWorker(name: string, settings: Record<string, string>, script?: Script) {
  const worker = createWorker(name, { ...installation, ...settings }, script);
  afterwards(worker.kill);
  await worker.start();
  return worker;
}

async function startBroker() {
  const broker = await startMosquitto();
  afterwards(broker.remove);
  return broker;
}

async function openGate(url: string) {
  const tcpProxy = await startTcpProxy(url);
  afterwards(tcpProxy.stop);
  return tcpProxy;
}

async function openMqttProxy(url: string, watch?: PacketWatch) {
  const mqttProxy = await startMqttProxy(url, watch);
  afterwards(mqttProxy.stop);
  return mqttProxy;
}

/** @param name of the ledger */
function startDevices(name: string, broker: string) {
  const ledger = join(directory, `${name}.ledger`);
  const fleet = startFleet({ broker, ledger, seed });
  afterwards(fleet.kill);
  return { ledger, ...fleet };
}

/** Random numbers of a test: one stream for each series of faults, and one for each fault. @param name of the test */
const randomsOf = (name: string) => (part: string) => createRandom(seed, name, part);

async function expectNothingLost(ledger: string, workers: Worker[]) {
  report('the devices have stopped');
  await judge.repair();
  report('repaired');
  const { acknowledged, stored } = await judge.agreement(ledger);
  expect(workers.flatMap(({ defects }) => defects)).toEqual([]);
  expect(acknowledged).toBeGreaterThan(10_000);
  report(
    `${acknowledged} samples acknowledged, ${stored} stored: each acknowledged sample exactly once, and latest is correct`,
  );
}

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
  'Ingest: two processes behind Mosquitto, random kills and network failures: every acknowledged sample is stored',
  async () => {
    const random = randomsOf('mosquitto');
    const broker = await startBroker();
    const mqttProxies = [await openMqttProxy(broker.url), await openMqttProxy(broker.url)];
    const devices = await openGate(broker.url);
    const workers = await Promise.all(
      mqttProxies.map(({ url }, i) =>
        startWorker(`ingest-${i + 1}`, {
          ROLE: 'ingest',
          MQTT_URL: url,
          MQTT_CLIENT_ID: `ingest-${i + 1}`,
          INGEST_JOURNAL: i === 0 ? 'always' : 'busy',
        }),
      ),
    );
    const fleet = startDevices('mosquitto', devices.url);
    await fleet.progress(200);
    await injectFaults({
      once: databaseFaults(cluster, random('database')),
      meanwhile: [
        ...workers.map((worker) => killWorker(worker, random(worker.name))),
        restartMosquitto(broker, { devices, mqttProxies }, random('broker')),
        ...mqttProxies.flatMap(({ tcpProxy }, i) =>
          cuts(`ingest-${i + 1} and Mosquitto`, tcpProxy, random(`wire ${i}`)),
        ),
      ],
      randoms: [random('first series'), random('second series')],
      report,
    });
    await fleet.recovery();
    await fleet.stop();
    await expectNothingLost(fleet.ledger, workers);
  },
  TIMEOUT_MS,
);

test(
  'Ingest: embedded broker, random kills and network failures: every acknowledged sample is stored',
  async () => {
    const random = randomsOf('embedded');
    const port = await steadyPort();
    const worker = await startWorker('the process that is broker and ingest', {
      MQTT_PORT: String(port),
      INGEST_JOURNAL: 'always',
    });
    const devices = await openGate(`mqtt://127.0.0.1:${port}`);
    const fleet = startDevices('embedded', devices.url);
    await fleet.progress(200);
    await injectFaults({
      once: databaseFaults(cluster, random('database')),
      meanwhile: [
        killWorker(worker, random('worker')),
        ...cuts('the devices and the broker', devices, random('network')),
      ],
      randoms: [random('first series'), random('second series')],
      report,
    });
    await fleet.recovery();
    await fleet.stop();
    await expectNothingLost(fleet.ledger, [worker]);
  },
  TIMEOUT_MS,
);

test(
  'Ingest: Mosquitto is killed and loses queued messages: every sample that ingest acknowledged is stored',
  async () => {
    const broker = await startBroker();
    const deliveries = join(directory, 'deliveries.ledger');
    const record = createDeliveryRecord(deliveries);
    afterwards(record.close);
    const mqttProxy = await openMqttProxy(broker.url, record.watch);
    const devices = await openGate(broker.url);
    const settings = { ROLE: 'ingest', MQTT_URL: mqttProxy.url, MQTT_CLIENT_ID: 'ingest-1' };
    const worker = await startWorker('ingest-1', settings);
    const fleet = startDevices('killed-broker', devices.url);
    await fleet.progress(300);

    // Mosquitto accepts messages that it cannot deliver yet, so that the kill makes it forget some.
    report('kill -9 of Mosquitto, with messages that it has acknowledged and not delivered');
    mqttProxy.tcpProxy.cut('refuse');
    await fleet.progress(200);
    devices.cut('refuse');
    await broker.kill();
    await broker.start();
    const before = mqttProxy.connections.length;
    await mqttProxy.tcpProxy.open();
    await until(() => mqttProxy.connections.slice(before).some(({ granted }) => granted > 0), {
      withinMs: 120_000,
    });
    await devices.open();
    await fleet.progress(300);
    await fleet.stop();
    await until(() => mqttProxy.last().acknowledged.length === mqttProxy.last().delivered.length, {
      withinMs: 120_000,
    });

    const delivered = await judge.agreement(deliveries);
    const { found } = await judge.compare(fleet.ledger);
    expect(worker.defects).toEqual([]);
    expect(delivered.acknowledged).toBeGreaterThan(1000);
    const noOtherDifference = {
      differing: { count: 0 },
      unknown: { count: 0 },
      latest: { count: 0 },
    };
    expect(found).toMatchObject(noOtherDifference);
    // Millrace has no influence on how much Mosquitto forgets. The check must notice one more lost message.
    noteLostMessage(fleet.ledger);
    const { found: withLoss } = await judge.compare(fleet.ledger);
    expect(withLoss).toMatchObject({ ...noOtherDifference, missing: { count: found.missing.count + 1 } });
    report(
      `all ${delivered.acknowledged} samples that Mosquitto delivered and ingest acknowledged are stored; ` +
        `Mosquitto itself forgot ${found.missing.count} samples that it had acknowledged to the devices`,
    );
  },
  TIMEOUT_MS,
);

test(
  'Check for lost samples: a process acknowledges before it commits, and is killed: the check reports missing samples',
  async () => {
    const settings = { MQTT_PORT: String(await steadyPort()) };
    const broken = await startWorker(
      'a process that acknowledges before it commits',
      settings,
      'test/cluster/kit/ack-before-commit.ts',
    );
    const fleet = startDevices('ack-before-commit', `mqtt://127.0.0.1:${settings.MQTT_PORT}`);
    await fleet.progress(300);
    report('kill -9 of a process that acknowledges before it commits');
    await broken.kill();
    const worker = await startWorker('the process that is broker and ingest', settings);
    await fleet.recovery();
    await fleet.stop();
    const { agree, found } = await judge.compare(fleet.ledger);
    expect(worker.defects).toEqual([]);
    expect(agree).toBe(false);
    expect(found.missing.count).toBeGreaterThan(0);
    report(`${found.missing.count} acknowledged samples are missing, and the check reports them`);
  },
  TIMEOUT_MS,
);
