import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import mqtt from 'mqtt';
import { connect } from '../../../api/store/connect.js';
import { int32 } from '../../../api/store/cql-encoding.js';
import { SENT_REQUESTS } from '../../../api/store/query-rule-tracker.js';
import { routingKey } from '../../../api/store/sending/routing.js';
import { readSettings } from '../../../common/settings/index.js';
import { startTestSystem } from '../../support/system/index.js';

/** @import { MqttClient } from 'mqtt' */
/** @import { Cluster } from '../../../infra/engine/cluster.js' */

/** @typedef {{ cql: string, coordinator: string, replicas: string[] }} Sent addresses */

/**
 * Records the requests and their nodes while devices publish and a reader reads. The keyspace stores each partition on one
 * node only. With as many copies as nodes, every node would be a replica.
 *
 * @param {Cluster} cluster with all nodes up
 * @param {{ devices: string[], afterwards: (task: () => unknown) => void }} options
 * @returns {Promise<Sent[]>} every request that has a partition
 */
export async function sentByPartition({ contactPoints }, { devices, afterwards }) {
  const settings = {
    CQL_CONTACT_POINTS: contactPoints.join(','),
    CQL_KEYSPACE: 'one_copy',
    LATEST_GROUPS: '16',
  };
  const { cql } = readSettings(settings, { envFile: '' });
  const database = await connect(cql, { applicationName: 'test' });
  afterwards(() => database.shutdown());
  await database.execute(
    `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}`,
    [],
    { prepare: false },
  );

  /** @type {Sent[]} */
  const sent = [];
  /** @param {any} request */
  const record = ({ application, query, coordinator, options }) => {
    const key = options.getRoutingKey();
    if (application !== 'millrace' || !key) return;
    /** @param {string} text @param {Buffer} routing */
    const note = (text, routing) => {
      const replicas = database.getReplicas(cql.keyspace, routing).map((host) => host.address);
      sent.push({ cql: text, coordinator: coordinator.address, replicas });
    };
    if (!Array.isArray(query)) return note(query, key);
    // A batch can have rows of several partitions. The node must be a replica of each of them.
    for (const { query: text, params, meta } of query)
      note(
        text,
        routingKey(...meta.partitionKeys.map((/** @type {number} */ index) => bytesOf(params[index]))),
      );
  };
  subscribe(SENT_REQUESTS, record);
  afterwards(() => unsubscribe(SENT_REQUESTS, record));

  const system = await startTestSystem({ settings });
  afterwards(() => system.stop());
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
