import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Client } from 'cassandra-driver';
import type { MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import { connect } from '../../../api/store/connect.ts';
import { int32 } from '../../../api/store/cql-values.ts';
import { routingKey, SENT_REQUESTS } from '../../../api/store/driver-policies.ts';
import { readSettings } from '../../../common/settings/index.ts';
import type { Cluster } from '../../../infra/engine/cluster.ts';
import { startTestSystem } from '../../support/system/index.ts';

interface Statement {
  query: string;
  params: unknown[];
  meta: { partitionKeys: number[] };
}

/** A request, as the tracker of the store publishes it. */
interface SentRequest {
  application: string;
  coordinator: { address: string };
  query: string | Statement[];
  options: { getRoutingKey(): Buffer | undefined };
}

/** addresses */
type Sent = { cql: string; coordinator: string; replicas: string[] };

/**
 * Starts a system on the cluster, in a keyspace of its own, and sees each request that it sends.
 * @param cluster with all nodes up
 */
export async function startOnCluster(
  { contactPoints }: Cluster,
  {
    settings,
    copies,
    onSent,
    afterwards,
  }: {
    /** of the system, with its keyspace */
    settings: Record<string, string>;
    /** of each partition */
    copies: number;
    onSent: (request: SentRequest, context: { database: Client; keyspace: string }) => void;
    afterwards: (task: () => unknown) => void;
  },
) {
  const all = { CQL_CONTACT_POINTS: contactPoints.join(','), ...settings };
  const { cql } = readSettings(all, { envFile: '' });
  const database = await connect(cql, { applicationName: 'test' });
  afterwards(() => database.shutdown());
  await database.execute(
    `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': ${copies}}`,
    [],
    { prepare: false },
  );
  const note = (message: unknown) => {
    const request = message as SentRequest;
    if (request.application === 'millrace') onSent(request, { database, keyspace: cql.keyspace });
  };
  subscribe(SENT_REQUESTS, note);
  afterwards(() => unsubscribe(SENT_REQUESTS, note));
  const system = await startTestSystem({ settings: all });
  afterwards(() => system.stop());
  return system;
}

/**
 * Records the requests and their nodes while devices publish and a reader reads. The keyspace stores each partition on one
 * node only. With as many copies as nodes, every node would be a replica.
 * @param cluster with all nodes up
 * @returns every request that has a partition
 */
export async function sentByPartition(
  cluster: Cluster,
  { devices, afterwards }: { devices: string[]; afterwards: (task: () => unknown) => void },
): Promise<Sent[]> {
  const sent: Sent[] = [];
  const system = await startOnCluster(cluster, {
    settings: { CQL_KEYSPACE: 'one_copy', LATEST_GROUPS: '16' },
    copies: 1,
    afterwards,
    onSent({ query, coordinator, options }, { database, keyspace }) {
      const key = options.getRoutingKey();
      if (!key) return;
      const note = (text: string, routing: Buffer) => {
        const replicas = database.getReplicas(keyspace, routing).map((host) => host.address);
        sent.push({ cql: text, coordinator: coordinator.address, replicas });
      };
      if (!Array.isArray(query)) return note(query, key);
      // A batch can have rows of several partitions. The node must be a replica of each of them.
      for (const { query: text, params, meta } of query)
        note(text, routingKey(...meta.partitionKeys.map((index) => bytesOf(params[index]))));
    },
  });
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  await Promise.all(devices.map((device) => publish(client, device)));
  await system.all('/latest');
  await Promise.all(devices.map((device) => system.all(`/devices/${device}/sensors/s/measurements`)));
  return sent;
}

function publish(client: MqttClient, device: string) {
  const now = Date.now();
  const samples = [0, 1, 2].map((value) => ({ sensor_id: 's', ts: now - value, value }));
  return client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(samples), { qos: 1 });
}

/** A value of a partition key in CQL encoding. Ingest passes bytes; other parts of the process pass the group as a number. */
const bytesOf = (value: unknown): Buffer => (Buffer.isBuffer(value) ? value : int32(Number(value)));
