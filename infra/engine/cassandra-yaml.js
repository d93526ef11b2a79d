import { join } from 'node:path';

/**
 * The whole configuration of a single node on loopback: data centre `datacenter1`, rack `rack1`.
 * YAML's double-quoted strings are JSON's, so any path is safe in it.
 *
 * @param {object} node
 * @param {string} node.dir where the node keeps everything, absolute
 * @param {number} node.port CQL
 * @param {number} node.storagePort
 * @param {boolean} node.auth roles and passwords; the first is `cassandra` with password `cassandra`
 */
export const cassandraYaml = ({ dir, port, storagePort, auth }) => `\
# Written by infra/engine at every start: changes made here are lost.
cluster_name: Millrace
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch

data_file_directories: [${JSON.stringify(join(dir, 'data'))}]
commitlog_directory: ${JSON.stringify(join(dir, 'commitlog'))}
saved_caches_directory: ${JSON.stringify(join(dir, 'saved_caches'))}
hints_directory: ${JSON.stringify(join(dir, 'hints'))}
cdc_raw_directory: ${JSON.stringify(join(dir, 'cdc_raw'))}

listen_address: 127.0.0.1
storage_port: ${storagePort}
rpc_address: 127.0.0.1
start_native_transport: true
native_transport_port: ${port}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "127.0.0.1:${storagePort}"

commitlog_sync: periodic
commitlog_sync_period: 10s
commitlog_total_space: 1024MiB
# A node whose disk fails ends, so that whoever started it can say so; the default would go on without answering.
disk_failure_policy: die
commit_failure_policy: die
auto_snapshot: false
hinted_handoff_enabled: true

authenticator: ${auth ? 'PasswordAuthenticator' : 'AllowAllAuthenticator'}
authorizer: ${auth ? 'CassandraAuthorizer' : 'AllowAllAuthorizer'}
role_manager: CassandraRoleManager
`;
