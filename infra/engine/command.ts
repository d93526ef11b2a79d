import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// Cassandra uses internals of the JDK, and ends at once without these flags. They come from Cassandra's start script for Java 17.
const EXPORTS = [
  'java.base/java.lang.ref',
  'java.base/jdk.internal.misc',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.rmi/sun.rmi.registry',
  'java.rmi/sun.rmi.server',
  'java.sql/java.sql',
  'jdk.attach/sun.tools.attach',
  'jdk.unsupported/sun.misc',
];
const OPENS = [
  ...['io', 'lang', 'lang.module', 'lang.reflect', 'nio', 'util'].map((name) => `java.base/java.${name}`),
  ...['loader', 'math', 'module', 'ref', 'reflect', 'util.jar'].map(
    (name) => `java.base/jdk.internal.${name}`,
  ),
  'java.base/sun.nio.ch',
  'jdk.management/com.sun.management.internal',
];

/** All programs of Cassandra need this access to JDK internals. */
export const JDK_ACCESS = [
  ...EXPORTS.map((one) => `--add-exports=${one}=ALL-UNNAMED`),
  ...OPENS.map((one) => `--add-opens=${one}=ALL-UNNAMED`),
];

/** Only warnings and milestones go to standard output. */
export const LOGGING = `-Dlogback.configurationFile=${new URL('logback.xml', import.meta.url)}`;

const FAST = ['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const SCHEMA_IN_MEMORY = '-Dcassandra.test.flush_local_schema_changes=false';

/**
 * JVM flags of a node by profile. A profile chooses between speed and the use of CPU and memory.
 *
 * - `full`: full speed, for interactive use.
 * - `bench`: as `full`, with a heap of fixed size, so that it neither shrinks nor grows under load.
 * - `fast`: half the CPU time at boot, two thirds of the memory and a lower throughput, for tests.
 * - `disposable`: as `fast`, for a node that is never started again after a kill, because a killed node loses its tables. The node
 *   does not write the schema files at each change: all migrations take 0.6 to 4 s on two busy cores instead of 8 to 18 s. It also
 *   does not write its system table after each TRUNCATE: 40 TRUNCATE statements take 0.1 s of CPU time instead of 0.8 s.
 * - `member`: as `fast`, with memory for the requests of other nodes. A node that is killed before `keepSchema` of its cluster was
 *   called loses its tables, as with `disposable`.
 */
const PROFILES = {
  full: ['-Xms256m', '-Xmx1g', '-XX:+UseG1GC'],
  bench: ['-Xms2g', '-Xmx2g', '-XX:+UseG1GC'],
  fast: FAST,
  disposable: [...FAST, SCHEMA_IN_MEMORY, '-Dcassandra.unsafesystem=true'],
  member: ['-Xms256m', '-Xmx768m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', SCHEMA_IN_MEMORY],
};

export type Profile = keyof typeof PROFILES;

/** Flags of a single node. It has nobody to gossip with, so it does not wait for other nodes at its start and end. */
const SINGLE_NODE = ['-Dcassandra.skip_wait_for_gossip_to_settle=0', '-Dcassandra.shutdown_announce_in_ms=0'];
/**
 * Flags of a node in a cluster. Gossip spreads quickly on loopback. So a new node waits 3 s for gossip instead of 30 s; with 0 s it cannot
 * join. A node that stops waits 0.5 s instead of 2 s. A node that starts does not watch gossip for 8 s, because it waits for its
 * connections to the other nodes anyway.
 */
const CLUSTER_NODE = [
  '-Dcassandra.ring_delay_ms=3000',
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
  '-Dcassandra.shutdown_announce_in_ms=500',
];

/** Identifies a running node among all processes. */
export const storageArgument = (dir: string) => `-Dcassandra.storagedir=${dir}`;

export const cassandraArguments = ({
  dir,
  jars,
  config,
  jmxPort,
  profile,
  alone,
  rackFile,
}: {
  dir: string;
  jars: string;
  config: string;
  jmxPort: number;
  profile: Profile;
  /** whether the cluster has only this node */
  alone: boolean;
  /** path of `cassandra-rackdc.properties`, if the cluster has several data centers */
  rackFile?: string;
}): string[] => [
  ...PROFILES[profile],
  '-XX:+ExitOnOutOfMemoryError',
  '-XX:+PerfDisableSharedMem',
  ...JDK_ACCESS,
  '-Djdk.attach.allowAttachSelf=true',
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Djava.net.preferIPv4Stack=true',
  LOGGING,
  `-Dcassandra.config=${pathToFileURL(config)}`,
  ...(rackFile ? [`-Dcassandra-rackdc.properties=${pathToFileURL(rackFile)}`] : []),
  storageArgument(dir),
  `-Dcassandra.logdir=${join(dir, 'logs')}`,
  `-Dcassandra.jmx.local.port=${jmxPort}`,
  '-Dcassandra-foreground=yes',
  ...(alone ? SINGLE_NODE : CLUSTER_NODE),
  '-Dcassandra.superuser_setup_delay_ms=0',
  '-cp',
  join(jars, '*'),
  'org.apache.cassandra.service.CassandraDaemon',
];
