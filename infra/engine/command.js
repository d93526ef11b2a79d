import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// Cassandra reaches into the JDK; without these it ends at once. The set of its own start script for Java 17.
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

const LOGBACK = fileURLToPath(new URL('logback.xml', import.meta.url));

/** Full speed, for people and benchmarks. */
const FULL = ['-Xms256m', '-Xmx1g', '-XX:+UseG1GC'];
/** Half the CPU at boot, two thirds of the memory and a lower throughput: for tests. */
const FAST = ['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** The argument by which a running node can be told from any other program. @param {string} dir */
export const storageArgument = (dir) => `-Dcassandra.storagedir=${dir}`;

/**
 * The arguments of `java` for one node.
 *
 * @param {object} node
 * @param {string} node.dir where the node keeps everything
 * @param {string} node.jars folder of the jars
 * @param {string} node.config path of its cassandra.yaml
 * @param {number} node.jmxPort
 * @param {boolean} node.fast boots with less CPU and memory, and serves less
 * @returns {string[]}
 */
export const cassandraArguments = ({ dir, jars, config, jmxPort, fast }) => [
  ...(fast ? FAST : FULL),
  '-XX:+ExitOnOutOfMemoryError',
  '-XX:+PerfDisableSharedMem',
  ...EXPORTS.map((one) => `--add-exports=${one}=ALL-UNNAMED`),
  ...OPENS.map((one) => `--add-opens=${one}=ALL-UNNAMED`),
  '-Djdk.attach.allowAttachSelf=true',
  '-Dio.netty.tryReflectionSetAccessible=true',
  '-Djava.net.preferIPv4Stack=true',
  `-Dlogback.configurationFile=${pathToFileURL(LOGBACK)}`,
  `-Dcassandra.config=${pathToFileURL(config)}`,
  storageArgument(dir),
  `-Dcassandra.logdir=${join(dir, 'logs')}`,
  `-Dcassandra.jmx.local.port=${jmxPort}`,
  '-Dcassandra-foreground=yes',
  // A single node has nobody to gossip with: no waiting for others at its start, none at its end.
  '-Dcassandra.skip_wait_for_gossip_to_settle=0',
  '-Dcassandra.shutdown_announce_in_ms=0',
  '-Dcassandra.superuser_setup_delay_ms=0',
  '-cp',
  join(jars, '*'),
  'org.apache.cassandra.service.CassandraDaemon',
];
