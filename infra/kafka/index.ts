import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MillraceError } from '../../common/errors.ts';
import { installEngine } from '../engine/index.ts';
import type { JarSet } from '../engine/install/jars.ts';
import { freePort, HOST, isPortFree, rememberedPorts } from '../engine/ports.ts';
import { homeArgument } from '../engine/process/lock.ts';
import { beginLog } from '../engine/process/log.ts';
import { type Engine, runEngine } from '../engine/process/run.ts';
import { openServerDir } from '../engine/process/server-dir.ts';
import type { ServerOptions } from '../engine/server-options.ts';
import { type KafkaSasl, serverProperties } from './server-properties.ts';

/**
 * Starts a local Kafka for development and tests: one broker that is its own controller (KRaft). It runs as a Java process with jars from
 * Maven, without a container. It uses the supervisor, the lock and the log of infra/engine.
 */

export const KAFKA_JARS: JarSet = {
  pom: fileURLToPath(new URL('pom.xml', import.meta.url)),
  title: 'Kafka',
  count: 43,
  size: '45 MB',
};

const FOLDER = 'kafka';

const JAVA_FLAGS = [
  '-Xms64m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:+ExitOnOutOfMemoryError',
];

/** The id can be fixed, because each directory belongs to a separate cluster with one node. */
const CLUSTER_ID = 'millraceLocalKafka0000';

export interface KafkaOptions extends ServerOptions {
  /** account with which clients must sign in; missing: any client may do anything */
  sasl?: KafkaSasl;
  /** clients must use TLS; `pem`: path of a file with the private key and its certificate */
  tls?: { pem: string };
}

/**
 * Starts a Kafka with one node and waits until it accepts connections. It runs in a separate process group, and ends at most 10 s after
 * this process, however this process ends.
 * @returns `contactPoint` is the bootstrap address
 * @throws `java_missing`, `tool_missing`, `install_failed`, `data_dir_taken`, `port_taken`, `bad_settings`, `engine_failed`
 */
export async function startKafka(options: KafkaOptions): Promise<Engine> {
  const { dataDir, port, sasl, tls, onStatus = () => {}, signal } = options;
  const engineDir = options.engineDir ?? join(dataDir, 'engine');
  const { home, dir } = await openServerDir(dataDir, FOLDER, { onStatus, signal });
  if (!(await isPortFree(port))) {
    throw new MillraceError(
      'port_taken',
      `Something listens on ${HOST}:${port} already, where the local Kafka should. Choose another port: STREAM_KAFKA=${HOST}:${await freePort()}`,
    );
  }
  const { java, jars } = await installEngine(engineDir, { set: KAFKA_JARS, onStatus, signal });
  const { controller } = await rememberedPorts(join(dir, 'ports.json'), ['controller']);
  const config = join(dir, 'server.properties');
  await writeFile(
    config,
    serverProperties({ dir, port, controller, sasl, pem: tls && (await readFile(tls.pem, 'utf8')) }),
  );
  const log4j = `-Dlog4j2.configurationFile=${fileURLToPath(new URL('log4j2.yaml', import.meta.url))}`;
  const common = [...JAVA_FLAGS, log4j, '-cp', join(jars, '*')];
  // With --ignore-formatted, a directory that is formatted already stays unchanged.
  await promisify(execFile)(
    java,
    [
      ...common,
      'kafka.tools.StorageTool',
      ...['format', '-t', CLUSTER_ID, '-c', config, '--ignore-formatted'],
      ...(sasl && sasl.mechanism !== 'PLAIN' ? ['--add-scram', scramRecord(sasl)] : []),
    ],
    { signal },
  ).catch((error) => {
    throw new MillraceError(
      'engine_failed',
      `Kafka's directory ${dir} could not be formatted: ${error.message}`,
    );
  });
  const log = join(home, 'logs', 'kafka.log');
  return runEngine({
    command: { java, args: [homeArgument(dir), ...common, 'kafka.Kafka', config], cwd: dir },
    dir,
    dataDir,
    log: { path: log, fd: beginLog(log) },
    server: {
      title: 'Kafka',
      address: `${HOST}:${port}`,
      answers: () => accepts(port),
      boots: '2 to 8 s',
      memory: '0.4 GB',
    },
    onStatus,
    signal,
  });
}

/** For the metadata of the cluster, where SCRAM reads the account. PLAIN reads it from the settings. */
const scramRecord = ({ mechanism, username, password }: KafkaSasl) =>
  `${mechanism}=[name=${username},password=${password}]`;

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('error', () => settle(false));
    socket.once('connect', () => settle(true));
  });
