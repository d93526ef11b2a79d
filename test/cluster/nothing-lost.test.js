import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { connect } from '../../api/store/connect.js';
import { migrateDatabase } from '../../api/store/migrate.js';
import { readSettings } from '../../common/settings/index.js';
import { startCluster } from '../../infra/engine/index.js';
import { steadyPort } from '../../infra/engine/ports.js';
import { createRandom } from '../../simulator/random.js';
import { useCleanUps } from '../support/clean-ups.js';
import { ENGINE_DIR } from '../support/engine.js';
import { startMosquitto } from '../support/mosquitto.js';
import { startMqttWire } from '../support/mqtt-wire.js';
import { startGate } from '../support/tcp-gate.js';
import { until } from '../support/until.js';
import { wreak } from './kit/chaos.js';
import { createDeliveryRecord, noteLostMessage } from './kit/deliveries.js';
import { cuts, databaseFaults, killWorker, restartMosquitto } from './kit/faults.js';
import { startFleet } from './kit/fleet.js';
import { createJudge } from './kit/judge.js';
import { publishThroughKill } from './kit/merged.js';
import { createProgress } from './kit/progress.js';
import { sentByPartition } from './kit/sent.js';
import { createWorker } from './kit/worker.js';

/** @import { Cluster } from '../../infra/engine/cluster.js' */
/** @import { Script } from '../support/api-process.js' */
/** @import { WireWatch } from '../support/mqtt-wire.js' */
/** @import { Judge } from './kit/judge.js' */
/** @import { Worker } from './kit/worker.js' */

/** About five minutes on a quiet machine in all; a busy one takes several times that. */
const TIMEOUT_MS = 900_000;

/** Of 32 bits, without a sign: jest draws negative ones too, which no flag of the simulator's takes. */
const seed = jest.getSeed() >>> 0;
const { say } = createProgress(process.stderr);

/** @type {string} */
let directory;
/** @type {Cluster} */
let cluster;
/** @type {Record<string, string>} what the processes of the installation share */
let installation;
/** @type {Judge} */
let judge;

beforeAll(async () => {
  say(`again with these faults: npm run test:cluster -- --seed ${jest.getSeed()}`);
  directory = await mkdtemp(join(tmpdir(), 'millrace-cluster-'));
  cluster = await startCluster({
    dataDir: join(directory, 'cluster'),
    engineDir: ENGINE_DIR,
    onStatus: say.often,
  });
  installation = {
    CQL_CONTACT_POINTS: cluster.contactPoints.join(','),
    CQL_KEYSPACE: 'chaos',
    CURSOR_SECRET: 'one secret for all',
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
  };
  const config = readSettings(installation, { envFile: '' });
  // As deployments do that start everything at once: from every process, each of which found another node first.
  const each = cluster.contactPoints.map((node) => ({
    ...config,
    cql: { ...config.cql, contactPoints: [node] },
  }));
  const migrated = await Promise.all(each.map((its) => migrateDatabase(its)));
  expect(migrated.filter(({ from }) => from === 0)).toHaveLength(1);
  judge = createJudge({ cluster, config });
  say('three nodes are up, with a keyspace that is stored three times');
}, TIMEOUT_MS);

afterAll(async () => {
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

/** @param {string} name @param {Record<string, string>} settings @param {Script} [script] */
async function startWorker(name, settings, script) {
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

/** @param {string} url */
async function openGate(url) {
  const gate = await startGate(url);
  afterwards(gate.stop);
  return gate;
}

/** @param {string} url @param {WireWatch} [watch] */
async function openWire(url, watch) {
  const wire = await startMqttWire(url, watch);
  afterwards(wire.stop);
  return wire;
}

/** @param {string} name of the ledger @param {string} broker */
function startDevices(name, broker) {
  const ledger = join(directory, `${name}.ledger`);
  const fleet = startFleet({ broker, ledger, seed });
  afterwards(fleet.kill);
  return { ledger, ...fleet };
}

/** Two streams of random numbers, one for each lane of faults, and more for the faults themselves. @param {string} name */
const randomsOf = (name) => (/** @type {string} */ part) => createRandom(seed, name, part);

/** @param {string} ledger @param {Worker[]} workers */
async function expectNothingLost(ledger, workers) {
  await judge.repair();
  const { acknowledged, stored } = await judge.agreement(ledger);
  expect(workers.flatMap(({ defects }) => defects)).toEqual([]);
  expect(acknowledged).toBeGreaterThan(10_000);
  say(
    `${acknowledged} samples acknowledged, ${stored} stored: every acknowledged one is there, once, and latest is right`,
  );
}

test(
  'who is told of one node finds the others, on whatever port they listen',
  async () => {
    const { cql } = readSettings(
      { ...installation, CQL_CONTACT_POINTS: String(cluster.contactPoints[2]) },
      { envFile: '' },
    );
    const client = await connect(cql, { applicationName: 'test' });
    afterwards(() => client.shutdown());
    const addresses = () =>
      client
        .getState()
        .getConnectedHosts()
        .map(({ address }) => address);
    await until(() => addresses().length === 3, { what: 'connections to three nodes' });
    expect(addresses().sort()).toEqual(cluster.contactPoints);
  },
  TIMEOUT_MS,
);

test(
  'every request goes to the one node of three that has its partition',
  async () => {
    const devices = Array.from({ length: 30 }, (_, at) => `device-${at}`);
    const sent = await sentByPartition(cluster, { devices, afterwards });
    expect(sent.filter(({ replicas }) => replicas.length !== 1)).toEqual([]);
    expect(sent.filter(({ coordinator, replicas }) => coordinator !== replicas[0])).toEqual([]);
    expect(new Set(sent.map(({ coordinator }) => coordinator)).size).toBe(3);
    expect(sent.length).toBeGreaterThan(100);
    const written = sent.filter(({ cql }) => cql.startsWith('INSERT INTO message'));
    expect(written.length).toBeGreaterThanOrEqual(devices.length);
  },
  TIMEOUT_MS,
);

test(
  'Merged writes: two copies of each partition, a node is killed: every acknowledged sample is stored',
  async () => {
    // One copy and three pass too, a minute each. Three is what the tests below have.
    const copies = 2;
    const { expected, found, partitions } = await publishThroughKill(cluster, { copies, afterwards });
    expect([...found].filter(([, values]) => values.join() !== expected.join())).toEqual([]);
    expect(partitions).toBeGreaterThan(1);
    expect(partitions).toBeLessThanOrEqual(10);
    say(
      `${copies} copies: all samples of ${found.size} devices are stored, ${partitions} partitions a request`,
    );
  },
  TIMEOUT_MS,
);

test(
  'behind Mosquitto, with two ingest processes: no acknowledged sample is lost, whatever fails',
  async () => {
    const random = randomsOf('mosquitto');
    const broker = await startBroker();
    const wires = [await openWire(broker.url), await openWire(broker.url)];
    const devices = await openGate(broker.url);
    const workers = await Promise.all(
      wires.map(({ url }, i) =>
        startWorker(`ingest-${i + 1}`, { ROLE: 'ingest', MQTT_URL: url, MQTT_CLIENT_ID: `ingest-${i + 1}` }),
      ),
    );
    const fleet = startDevices('mosquitto', devices.url);
    await fleet.progress(200);
    await wreak({
      once: databaseFaults(cluster, random('database')),
      meanwhile: [
        ...workers.map((worker) => killWorker(worker, random(worker.name))),
        restartMosquitto(broker, { devices, wires }, random('broker')),
        ...wires.flatMap(({ gate }, i) => cuts(`ingest-${i + 1} and Mosquitto`, gate, random(`wire ${i}`))),
      ],
      randoms: [random('first lane'), random('second lane')],
      say,
    });
    await fleet.recovery();
    await fleet.stop();
    await expectNothingLost(fleet.ledger, workers);
  },
  TIMEOUT_MS,
);

test(
  'with the embedded broker: no acknowledged sample is lost, whatever fails',
  async () => {
    const random = randomsOf('embedded');
    const port = await steadyPort();
    const worker = await startWorker('the process that is broker and ingest', { MQTT_PORT: String(port) });
    const devices = await openGate(`mqtt://127.0.0.1:${port}`);
    const fleet = startDevices('embedded', devices.url);
    await fleet.progress(200);
    await wreak({
      once: databaseFaults(cluster, random('database')),
      meanwhile: [
        killWorker(worker, random('worker')),
        ...cuts('the devices and the broker', devices, random('network')),
      ],
      randoms: [random('first lane'), random('second lane')],
      say,
    });
    await fleet.recovery();
    await fleet.stop();
    await expectNothingLost(fleet.ledger, [worker]);
  },
  TIMEOUT_MS,
);

test(
  'Mosquitto killed forgets what it took; what it delivered and we acknowledged is stored',
  async () => {
    const broker = await startBroker();
    const deliveries = join(directory, 'deliveries.ledger');
    const record = createDeliveryRecord(deliveries);
    afterwards(record.close);
    const wire = await openWire(broker.url, record.watch);
    const devices = await openGate(broker.url);
    const settings = { ROLE: 'ingest', MQTT_URL: wire.url, MQTT_CLIENT_ID: 'ingest-1' };
    const worker = await startWorker('ingest-1', settings);
    const fleet = startDevices('killed-broker', devices.url);
    await fleet.progress(300);

    // So that Mosquitto has something to forget: it takes messages that it cannot deliver yet.
    say('kill -9 of Mosquitto, with messages that it has acknowledged and not delivered');
    wire.gate.cut('refuse');
    await fleet.progress(200);
    devices.cut('refuse');
    await broker.kill();
    await broker.start();
    const before = wire.connections.length;
    await wire.gate.open();
    await until(() => wire.connections.slice(before).some(({ granted }) => granted > 0), {
      withinMs: 60_000,
    });
    await devices.open();
    await fleet.progress(300);
    await fleet.stop();
    await until(() => wire.last().acknowledged.length === wire.last().delivered.length, { withinMs: 60_000 });

    const ours = await judge.agreement(deliveries);
    const { found } = await judge.compare(fleet.ledger);
    expect(worker.defects).toEqual([]);
    expect(ours.acknowledged).toBeGreaterThan(1000);
    const nothingElse = {
      differing: { count: 0 },
      unknown: { count: 0 },
      latest: { count: 0 },
    };
    expect(found).toMatchObject(nothingElse);
    // How much Mosquitto forgets is its own affair; that one message more would be noticed is ours.
    noteLostMessage(fleet.ledger);
    const { found: withLoss } = await judge.compare(fleet.ledger);
    expect(withLoss).toMatchObject({ ...nothingElse, missing: { count: found.missing.count + 1 } });
    say(
      `all ${ours.acknowledged} samples that Mosquitto delivered and we acknowledged are stored; ` +
        `Mosquitto itself forgot ${found.missing.count} that it had acknowledged to the devices`,
    );
  },
  TIMEOUT_MS,
);

test(
  'the check is red for a process that acknowledges before it commits',
  async () => {
    const settings = { MQTT_PORT: String(await steadyPort()) };
    const hasty = await startWorker('a hasty process', settings, 'test/cluster/kit/hasty.js');
    const fleet = startDevices('hasty', `mqtt://127.0.0.1:${settings.MQTT_PORT}`);
    await fleet.progress(300);
    say('kill -9 of a process that acknowledges before it commits');
    await hasty.kill();
    const worker = await startWorker('the process that is broker and ingest', settings);
    await fleet.recovery();
    await fleet.stop();
    const { agree, found } = await judge.compare(fleet.ledger);
    expect(worker.defects).toEqual([]);
    expect(agree).toBe(false);
    expect(found.missing.count).toBeGreaterThan(0);
    say(`${found.missing.count} acknowledged samples are missing, and the check says so`);
  },
  TIMEOUT_MS,
);
