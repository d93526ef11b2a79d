import { join } from 'node:path';

export interface Ring {
  /** end of the token range of the node */
  initialToken: string;
  /** includes the own address, because a node does not start if all its seeds are dead */
  seeds: string[];
  /** true: the cluster has data, and the node fetches its share at its first start */
  joins?: boolean;
  /** missing: the cluster has one data center, `datacenter1` */
  site?: Site;
}

/** Where a node of several data centers stands. */
export interface Site {
  dataCenter: string;
  /** the address under which nodes of other data centers find this node */
  broadcastAddress: string;
}

/** Every client must use TLS, unless `optional` is true. */
export interface Tls {
  /** path of the unencrypted private key and its certificate */
  pem: string;
  ca: string;
  demandsClients?: boolean;
  /** true: clients may connect with or without TLS, on the same port */
  optional?: boolean;
}

/**
 * The node is on loopback, in rack `rack1`. A double-quoted YAML string has the syntax of JSON, so
 * `JSON.stringify` escapes any path.
 */
export const cassandraYaml = ({
  dir,
  host,
  port,
  storagePort,
  auth,
  durable,
  tls,
  ring,
  settings = {},
}: {
  dir: string;
  host: string;
  port: number;
  storagePort: number;
  /** true: clients sign in; the first role is `cassandra` with password `cassandra` */
  auth: boolean;
  /** true: the node answers a write when the write is on the disk */
  durable: boolean;
  tls?: Tls;
  ring?: Ring;
  settings?: Record<string, string>;
}) => `\
# Written by infra/engine at every start: changes made here are lost.
cluster_name: Millrace
num_tokens: 1
${ring ? member(ring) : ''}\
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: ${ring?.site ? 'GossipingPropertyFileSnitch' : 'SimpleSnitch'}

data_file_directories: [${JSON.stringify(join(dir, 'data'))}]
commitlog_directory: ${JSON.stringify(join(dir, 'commitlog'))}
saved_caches_directory: ${JSON.stringify(join(dir, 'saved_caches'))}
hints_directory: ${JSON.stringify(join(dir, 'hints'))}
cdc_raw_directory: ${JSON.stringify(join(dir, 'cdc_raw'))}

listen_address: ${host}
${ring?.site ? `broadcast_address: ${ring.site.broadcastAddress}\n` : ''}\
storage_port: ${storagePort}
rpc_address: ${host}
start_native_transport: true
native_transport_port: ${port}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "${(ring?.seeds ?? [host]).map((seed) => `${seed}:${storagePort}`).join(',')}"

${durable ? SYNCED : PERIODIC}\
commitlog_total_space: 1024MiB
# A node whose disk fails ends, so that its parent process can report it. By default it would run on without answering.
disk_failure_policy: die
commit_failure_policy: die
auto_snapshot: false
hinted_handoff_enabled: true

authenticator: ${auth ? 'PasswordAuthenticator' : 'AllowAllAuthenticator'}
authorizer: ${auth ? 'CassandraAuthorizer' : 'AllowAllAuthorizer'}
role_manager: CassandraRoleManager
${tls ? encrypted(tls) : ''}\
${Object.entries(settings)
  .map(([name, value]) => `${name}: ${value}\n`)
  .join('')}`;

/**
 * Settings of a node that accepts larger batches without a warning. Ingest reads the limits of the node when it starts. With these
 * settings a request contains up to 64 rows of devices instead of 10.
 */
export const LARGE_BATCHES = {
  batch_size_warn_threshold: '32KiB',
  unlogged_batch_across_partitions_warn_threshold: '64',
};

// The commit log mode of production. The node may lose the writes of the last 10 s in a power cut, or of the last 0.1 s if its process
// is killed. In production two other nodes have these writes.
const PERIODIC = `\
commitlog_sync: periodic
commitlog_sync_period: 10s
`;

// The commit log mode of a single node that must not lose writes. Writes that arrive during a sync wait for the next sync, and each write
// occupies a thread until then, so the default of 32 threads is too few. Measured on two cores with rows of 60 samples: a write takes 0.4
// to 0.8 ms instead of 0.2, and the highest rate is a half to a quarter. `group` with a window of 2 ms has the same rate, and a write
// takes 2 ms.
const SYNCED = `\
commitlog_sync: batch
concurrent_writes: 128
`;

/** Of GossipingPropertyFileSnitch. `prefer_local`: nodes of one data center use their listen addresses among each other. */
export const rackProperties = ({ dataCenter }: Site) => `dc=${dataCenter}\nrack=rack1\nprefer_local=true\n`;

// The first nodes of a new cluster need no bootstrap, because there is no data yet. So they may all start at once.
const member = ({ initialToken, joins = false }: Ring) => `\
initial_token: "${initialToken}"
auto_bootstrap: ${joins}
`;

// Like all other programs in this repository, Cassandra reads keys and certificates from PEM files here. Its default is a Java key store.
const encrypted = ({ pem, ca, optional = false, demandsClients = false }: Tls) => `\
client_encryption_options:
  enabled: true
  optional: ${optional}
  require_client_auth: ${demandsClients}
  ssl_context_factory:
    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory
  keystore: ${JSON.stringify(pem)}
  truststore: ${JSON.stringify(ca)}
`;
