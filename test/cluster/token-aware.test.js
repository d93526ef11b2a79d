import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { connect } from '../../api/store/connect.js';
import { SENT_REQUESTS } from '../../api/store/sent-request.js';
import { readSettings } from '../../common/settings.js';
import { startCluster } from '../../infra/engine/index.js';
import { useCleanUps } from '../support/clean-ups.js';
import { ENGINE_DIR } from '../support/engine.js';
import { startTestSystem } from '../support/system.js';

const TIMEOUT_MS = 900_000;
const KEYSPACE = 'one_copy';

/** @type {string} */
let directory;
/** @type {import('../../infra/engine/cluster.js').Cluster} */
let cluster;
/** @type {import('cassandra-driver').Client} */
let database;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-cluster-'));
  cluster = await startCluster({ dataDir: join(directory, 'cluster'), engineDir: ENGINE_DIR });
  const { cql } = readSettings({ CQL_CONTACT_POINTS: cluster.contactPoints.join(',') }, { envFile: '' });
  database = await connect(cql, { applicationName: 'test' });
  // Each partition on one node alone: with as many copies as nodes, every node is a replica.
  await database.execute(
    `CREATE KEYSPACE ${KEYSPACE} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
    [],
    { prepare: false },
  );
}, TIMEOUT_MS);

afterAll(async () => {
  await database?.shutdown();
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 3 });
}, TIMEOUT_MS);

const afterwards = useCleanUps(TIMEOUT_MS);

test(
  'every request goes to the one node of three that has its partition',
  async () => {
    /** @type {Array<{ cql: string, coordinator: string, replicas: string[] }>} */
    const sent = [];
    /** @param {any} request */
    const hear = ({ application, query, coordinator, options }) => {
      const key = options.getRoutingKey();
      if (application !== 'millrace' || !key) return;
      const replicas = database.getReplicas(KEYSPACE, key).map((host) => host.address);
      const cql = Array.isArray(query) ? query[0].query : query;
      sent.push({ cql, coordinator: coordinator.address, replicas });
    };
    subscribe(SENT_REQUESTS, hear);
    afterwards(() => unsubscribe(SENT_REQUESTS, hear));
    const system = await startTestSystem({
      settings: {
        CQL_CONTACT_POINTS: cluster.contactPoints.join(','),
        CQL_KEYSPACE: KEYSPACE,
        LATEST_GROUPS: '16',
      },
    });
    afterwards(() => system.stop());
    const client = await mqtt.connectAsync(system.mqttUrl);
    afterwards(() => client.endAsync(true));
    const now = Date.now();
    const devices = Array.from({ length: 30 }, (_, at) => `device-${at}`);
    await Promise.all(
      devices.map((device) =>
        client.publishAsync(
          `iot/v1/${device}/measurements`,
          JSON.stringify([0, 1, 2].map((at) => ({ sensor_id: 's', ts: now - at, value: at }))),
          { qos: 1 },
        ),
      ),
    );
    await system.all('/latest');
    await Promise.all(devices.map((device) => system.all(`/devices/${device}/sensors/s/measurements`)));

    expect(sent.filter(({ replicas }) => replicas.length !== 1)).toEqual([]);
    expect(sent.filter(({ coordinator, replicas }) => coordinator !== replicas[0])).toEqual([]);
    expect(new Set(sent.map(({ coordinator }) => coordinator)).size).toBe(3);
    expect(sent.length).toBeGreaterThan(100);
    const written = sent.filter(({ cql }) => cql.startsWith('INSERT INTO measurement_batch'));
    expect(written.length).toBeGreaterThanOrEqual(devices.length);
  },
  TIMEOUT_MS,
);
