import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { claimDataDir } from '../../common/data-dir.js';
import { MillraceError } from '../../common/errors.js';
import { installEngine, neededTools } from '../engine/index.js';
import { freePort, HOST, isPortFree, rememberedPorts } from '../engine/ports.js';
import { homeArgument } from '../engine/process/lock.js';
import { beginLog } from '../engine/process/log.js';
import { awaitPrevious } from '../engine/process/previous.js';
import { runEngine } from '../engine/process/run.js';
import { serverProperties } from './server-properties.js';

/** @import { JarSet } from '../engine/install/jars.js' */
/** @import { Engine } from '../engine/process/run.js' */
/** @import { KafkaSasl } from './server-properties.js' */

/**
 * The interface of the local Kafka: one broker that is its own controller (KRaft), as a Java process from Maven's jars, without a container.
 * Development and tests use it. It shares the supervisor, the lock and the log of infra/engine.
 */

/** @type {JarSet} */
const KAFKA_JARS = {
  pom: fileURLToPath(new URL('pom.xml', import.meta.url)),
  title: 'Kafka',
  count: 43,
  size: '45 MB',
};

/** The folder of Kafka in a data directory. */
const FOLDER = 'kafka';

const JAVA_FLAGS = [
  '-Xms64m',
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:+ExitOnOutOfMemoryError',
];

/** A fixed id: a directory belongs to one cluster of one node. */
const CLUSTER_ID = 'millraceLocalKafka0000';

/**
 * @typedef {object} KafkaOptions
 * @property {string} dataDir directory of all data; created if it is missing
 * @property {number} port of clients, on 127.0.0.1
 * @property {string} [engineDir] folder of the jars; default: `engine` under the data directory
 * @property {KafkaSasl} [sasl] clients sign in; default: anybody may do anything
 * @property {{ pem: string }} [tls] clients speak TLS; `pem`: path of a file with the private key and its certificate
 * @property {(text: string) => void} [onStatus] gets the current status, often
 * @property {AbortSignal} [signal] aborts the start; what was started is ended
 */

/** @param {string} engineDir @returns {Promise<('java' | 'maven')[]>} */
export const toolsForKafka = (engineDir) => neededTools(engineDir, KAFKA_JARS);

/** Fetches the jars unless they are there. @param {string} engineDir @param {{ onStatus: (text: string) => void, signal?: AbortSignal }} options */
export const installKafka = (engineDir, options) => installEngine(engineDir, { ...options, set: KAFKA_JARS });

/**
 * Starts a Kafka of one node and waits until it accepts connections. It runs in a process group of its own and ends within 10 s of this
 * process, however that ends.
 *
 * @param {KafkaOptions} options
 * @returns {Promise<Engine>} `contactPoint` is the bootstrap address
 * @throws {MillraceError} `java_missing`, `tool_missing`, `install_failed`, `data_dir_taken`, `port_taken`, `bad_settings`, `engine_failed`
 */
export async function startKafka(options) {
  const { dataDir, port, sasl, tls, onStatus = () => {}, signal } = options;
  const engineDir = options.engineDir ?? join(dataDir, 'engine');
  await claimDataDir(dataDir);
  const home = await realpath(dataDir);
  const dir = join(home, FOLDER);
  await mkdir(dir, { recursive: true });
  await awaitPrevious(dataDir, { folder: FOLDER, onStatus, signal });
  if (!(await isPortFree(port))) {
    throw new MillraceError(
      'port_taken',
      `Something listens on ${HOST}:${port} already, where the local Kafka should. Choose another port: STREAM_KAFKA=${HOST}:${await freePort()}`,
    );
  }
  const { java, jars } = await installKafka(engineDir, { onStatus, signal });
  const { controller } = await rememberedPorts(join(dir, 'ports.json'), ['controller']);
  const config = join(dir, 'server.properties');
  await writeFile(
    config,
    serverProperties({ dir, port, controller, sasl, pem: tls && (await readFile(tls.pem, 'utf8')) }),
  );
  const log4j = `-Dlog4j2.configurationFile=${fileURLToPath(new URL('log4j2.yaml', import.meta.url))}`;
  const common = [...JAVA_FLAGS, log4j, '-cp', join(jars, '*')];
  // Idempotent: a directory that is formatted stays as it is.
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

/** The account of SCRAM stands in the metadata of the cluster, that of PLAIN in the settings. @param {KafkaSasl} sasl */
const scramRecord = ({ mechanism, username, password }) =>
  `${mechanism}=[name=${username},password=${password}]`;

/** @param {number} port @returns {Promise<boolean>} whether somebody accepts connections */
const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    const settle = (/** @type {boolean} */ answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('error', () => settle(false));
    socket.once('connect', () => settle(true));
  });
