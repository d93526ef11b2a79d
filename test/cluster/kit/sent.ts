import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import mqtt from 'mqtt';
import { connect } from '../../../api/store/connect.js';
import { int32 } from '../../../api/store/cql-encoding.js';
import { SENT_REQUESTS } from '../../../api/store/query-rule-tracker.js';
import { routingKey } from '../../../api/store/sending/routing.js';
import { readSettings } from '../../../common/settings/index.js';
import { startTestSystem } from '../../support/system/index.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { MqttClient } from 'mqtt' */
/** @import { Cluster } from '../../../infra/engine/cluster.js' */

/** @typedef {{ cql: string, coordinator: string, replicas: string[] }} Sent addresses */

/**
 * Starts a system on the cluster, in a keyspace of its own, and sees each request that it sends.
 *
 * @param {Cluster} cluster with all nodes up
 * @param {object} options
 * @param {Record<string, string>} options.settings of the system, with its keyspace
 * @param {number} options.copies of each partition
 * @param {(request: any, context: { database: Client, keyspace: string }) => void} options.onSent
 * @param {(task: () => unknown) => void} options.afterwards
 */
export async function startOnCluster({ contactPoints }, { settings, copies, onSent, afterwards }) {
  const all = { CQL_CONTACT_POINTS: contactPoints.join(','), ...settings };
  const { cql } = readSettings(all, { envFile: '' });
  const database = await connect(cql, { applicationName: 'test' });
  afterwards(() => database.shutdown());
  await database.execute(
    `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': ${copies}}`,
    [],
    { prepare: false },
  );
  const note = (/** @type {any} */ request) => {
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
 *
 * @param {Cluster} cluster with all nodes up
 * @param {{ devices: string[], afterwards: (task: () => unknown) => void }} options
 * @returns {Promise<Sent[]>} every request that has a partition
 */
export async function sentByPartition(cluster, { devices, afterwards }) {
  /** @type {Sent[]} */
  const sent = [];
  const system = await startOnCluster(cluster, {
    settings: { CQL_KEYSPACE: 'one_copy', LATEST_GROUPS: '16' },
    copies: 1,
    afterwards,
    onSent({ query, coordinator, options }, { database, keyspace }) {
      const key = options.getRoutingKey();
      if (!key) return;
      /** @param {string} text @param {Buffer} routing */
      const note = (text, routing) => {
        const replicas = database.getReplicas(keyspace, routing).map((host) => host.address);
        sent.push({ cql: text, coordinator: coordinator.address, replicas });
      };
      if (!Array.isArray(query)) return note(query, key);
      // A batch can have rows of several partitions. The node must be a replica of each of them.
      for (const { query: text, params, meta } of query)
        note(
          text,
          routingKey(...meta.partitionKeys.map((/** @type {number} */ index) => bytesOf(params[index]))),
        );
    },
  });
  const client = await mqtt.connectAsync(system.mqttUrl);
  afterwards(() => client.endAsync(true));
  await Promise.all(devices.map((device) => publish(client, device)));
  await system.all('/latest');
  await Promise.all(devices.map((device) => system.all(`/devices/${device}/sensors/s/measurements`)));
  return sent;
}

/** @param {MqttClient} client @param {string} device */
function publish(client, device) {
  const now = Date.now();
  const samples = [0, 1, 2].map((value) => ({ sensor_id: 's', ts: now - value, value }));
  return client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(samples), { qos: 1 });
}

/** A value of a partition key in CQL encoding. Ingest passes bytes; other parts of the process pass the group as a number. @param {unknown} value @returns {Buffer} */
const bytesOf = (value) => (Buffer.isBuffer(value) ? value : int32(Number(value)));
