import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import mqtt from 'mqtt';
import { connect } from '../../../api/store/connect.js';
import { int32 } from '../../../api/store/cql-encoding.js';
import { routingKey } from '../../../api/store/routing.js';
import { SENT_REQUESTS } from '../../../api/store/tracker.js';
import { readSettings } from '../../../common/settings/index.js';
import { startTestSystem } from '../../support/system.js';

/** @import { MqttClient } from 'mqtt' */
/** @import { Cluster } from '../../../infra/engine/cluster.js' */

/** @typedef {{ cql: string, coordinator: string, replicas: string[] }} Sent addresses */

/**
 * What goes to which node while devices publish and a reader reads, in a keyspace that has each partition on one node
 * alone: with as many copies as nodes, every node is a replica.
 *
 * @param {Cluster} cluster all of it up
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
  const hear = ({ application, query, coordinator, options }) => {
    const key = options.getRoutingKey();
    if (application !== 'millrace' || !key) return;
    /** @param {string} text @param {Buffer} routing */
    const note = (text, routing) => {
      const replicas = database.getReplicas(cql.keyspace, routing).map((host) => host.address);
      sent.push({ cql: text, coordinator: coordinator.address, replicas });
    };
    if (!Array.isArray(query)) return note(query, key);
    // A batch can have rows of several partitions: each of them has to be at home there.
    for (const { query: text, params, meta } of query)
      note(text, routingKey(...meta.partitionKeys.map((/** @type {number} */ at) => bytesOf(params[at]))));
  };
  subscribe(SENT_REQUESTS, hear);
  afterwards(() => unsubscribe(SENT_REQUESTS, hear));

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
  const samples = [0, 1, 2].map((at) => ({ sensor_id: 's', ts: now - at, value: at }));
  return client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(samples), { qos: 1 });
}

/** A value of a partition key, as CQL has it: ingest hands in bytes, other parts of the process the group as a number. @param {unknown} value @returns {Buffer} */
const bytesOf = (value) => (Buffer.isBuffer(value) ? value : int32(Number(value)));
