import { join } from 'node:path';
import { migrateDatabase } from '../../api/store/setup/index.ts';
import type { Config } from '../../common/settings/config.ts';
import { readSettings } from '../../common/settings/index.ts';
import type { Cluster } from '../../infra/engine/cluster.ts';
import { steadyPort } from '../../infra/engine/ports.ts';
import { createDeliveryRecord } from '../cluster/kit/deliveries.ts';
import { type Fleet, startFleet } from '../cluster/kit/fleet.ts';
import { LedgerIndex } from '../cluster/kit/ledger-index.ts';
import { createWorker, type Worker } from '../cluster/kit/worker.ts';
import { startTcpProxy, type TcpProxy } from '../support/http/tcp-proxy.ts';
import { makeTopics, startTestKafka, type TestKafka } from '../support/kafka/index.ts';
import { type Mosquitto, startMosquitto } from '../support/mqtt/mosquitto.ts';
import { type MqttProxy, startMqttProxy } from '../support/mqtt/mqtt-proxy.ts';
import type { Plan, Process } from './plan.ts';

export const TOPIC_PREFIX = 'chaos';

/** With two fleets about 4,000 samples a second. */
const DEVICES = 40;
const INTERVAL = '50ms';

/** What all drills of a run share. */
export interface World {
  directory: string;
  cluster: Cluster;
  kafka: TestKafka;
  settings: Record<string, string>;
  config: Config;
  afterwards: (cleanUp: () => unknown) => void;
}

/** @param cluster with all nodes up, and without the keyspace `chaos` */
export async function startWorld({
  directory,
  cluster,
  afterwards,
}: {
  directory: string;
  cluster: Cluster;
  afterwards: (cleanUp: () => unknown) => void;
}): Promise<World> {
  const kafka = await startTestKafka();
  afterwards(kafka.dispose);
  await makeTopics(kafka.address, TOPIC_PREFIX);
  const settings = {
    CQL_CONTACT_POINTS: cluster.contactPoints.join(','),
    CQL_KEYSPACE: 'chaos',
    CURSOR_SECRET: 'one secret for all',
    DATA_DIR: directory,
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
    STREAM_KAFKA: kafka.address,
    STREAM_TOPIC_PREFIX: TOPIC_PREFIX,
  };
  const config = readSettings(settings, { envFile: '' });
  // A deployment may start all processes at once. Each process migrates, and each one has another contact point.
  const configs = cluster.contactPoints.map((node) => ({
    ...config,
    cql: { ...config.cql, contactPoints: [node] },
  }));
  const migrated = await Promise.all(configs.map((each) => migrateDatabase(each)));
  if (migrated.filter(({ from }) => from === 0).length !== 1) throw new Error('Several processes migrated.');
  await cluster.keepSchema();
  const { DATA_DIR: _, ...shared } = settings;
  return { directory, cluster, kafka, settings: shared, config, afterwards };
}

/** What may fail in a drill, and its load. */
export interface Parts {
  world: World;
  workers: Record<Process, Worker>;
  broker: Mosquitto;
  devices: { embedded: TcpProxy; Mosquitto: TcpProxy };
  mqttProxies: { 'shared-1': MqttProxy; 'shared-2': MqttProxy };
  fleets: Fleet[];
  /** what Millrace itself acknowledged: to devices, and to Mosquitto */
  acknowledged: LedgerIndex[];
  /** what must be stored: with a broker that forgets, not all that it acknowledged to devices */
  promised: LedgerIndex[];
}

/** @param name of the drill, a prefix of its devices */
export async function startParts(
  world: World,
  {
    name,
    seed,
    plan: { brokerForgets, journals },
    afterwards,
  }: { name: string; seed: number; plan: Plan; afterwards: (cleanUp: () => unknown) => void },
): Promise<Parts> {
  const ledgerOf = (part: string) => join(world.directory, `${name}-${part}.ledger`);
  const broker = await startMosquitto();
  afterwards(broker.remove);
  const record = createDeliveryRecord(ledgerOf('deliveries'));
  afterwards(record.close);
  const deliveries = new LedgerIndex(ledgerOf('deliveries'));
  afterwards(deliveries.close);
  const openMqttProxy = async () => {
    const mqttProxy = await startMqttProxy(broker.url, record.watch);
    afterwards(mqttProxy.stop);
    return mqttProxy;
  };
  const openTcpProxy = async (url: string) => {
    const tcpProxy = await startTcpProxy(url);
    afterwards(tcpProxy.stop);
    return tcpProxy;
  };
  const port = String(await steadyPort());
  const mqttProxies = { 'shared-1': await openMqttProxy(), 'shared-2': await openMqttProxy() };
  const devices = {
    embedded: await openTcpProxy(`mqtt://127.0.0.1:${port}`),
    Mosquitto: await openTcpProxy(broker.url),
  };
  const startWorker = async (process: Process, settings: Record<string, string>) => {
    const all = { ...world.settings, ...settings, INGEST_JOURNAL: journals[process] };
    const worker = createWorker(process, all, 'test/support/processes/api-ahead.ts');
    afterwards(worker.kill);
    await worker.start();
    return worker;
  };
  const shared = (process: 'shared-1' | 'shared-2') =>
    startWorker(process, { MQTT_URL: mqttProxies[process].url, MQTT_CLIENT_ID: process });
  const [embedded, first, second] = await Promise.all([
    startWorker('embedded', { MQTT_PORT: port }),
    shared('shared-1'),
    shared('shared-2'),
  ]);
  const startDevices = (part: 'embedded' | 'Mosquitto') => {
    const fleet = startFleet({
      broker: devices[part].url,
      ledger: ledgerOf(part),
      seed,
      devices: DEVICES,
      prefix: `${name}-${part}`,
      interval: INTERVAL,
      hasEpisodes: true,
    });
    afterwards(fleet.kill);
    return fleet;
  };
  const fleets = [startDevices('embedded'), startDevices('Mosquitto')] as const;
  const indexes = fleets.map(({ index }) => index);
  return {
    world,
    workers: { embedded, 'shared-1': first, 'shared-2': second },
    broker,
    devices,
    mqttProxies,
    fleets: [...fleets],
    acknowledged: [fleets[0].index, deliveries],
    promised: [...(brokerForgets ? indexes.slice(0, 1) : indexes), deliveries],
  };
}
