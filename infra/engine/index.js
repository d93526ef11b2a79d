import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../common/data-dir.js';
import { MillraceError } from '../../common/errors.js';
import { findTools } from '../bootstrap/tools.js';
import { cassandraYaml } from './cassandra-yaml.js';
import { cassandraArguments } from './command.js';
import { checkDisk } from './disk.js';
import { ensureJars, hasJars } from './jars.js';
import { beginLog } from './log.js';
import { isPortFree, rememberedPorts } from './ports.js';
import { awaitPrevious } from './previous.js';
import { runEngine } from './run.js';

const HOST = '127.0.0.1';

/**
 * @typedef {object} EngineOptions
 * @property {string} dataDir everything is kept under it; made if it is not there
 * @property {number} port CQL, on 127.0.0.1; the other ports are free ones, remembered
 * @property {string} [engineDir] where the jars are kept; default: `engine` under the data directory
 * @property {boolean} [fast] boots with less CPU and memory, and serves less: for tests
 * @property {boolean} [auth] roles and passwords are on; the first role is `cassandra`, password `cassandra`
 * @property {(text: string) => void} [onStatus] gets what is true now, often
 * @property {AbortSignal} [signal] gives up; what was started is ended
 */

/**
 * Starts a single-node Apache Cassandra 5.0 and waits until it answers CQL. It runs in a process group of its own and
 * ends within 10 s of this process, however that ends.
 *
 * @param {EngineOptions} options
 * @returns {Promise<import('./run.js').Engine>}
 * @throws {MillraceError} `java_missing`, `tool_missing`, `install_failed`, `disk_full`, `data_dir_taken`, `port_taken`, `engine_failed`
 */
export async function startEngine({
  dataDir,
  port,
  engineDir = join(dataDir, 'engine'),
  fast = false,
  auth = false,
  onStatus = () => {},
  signal,
}) {
  await claimDataDir(dataDir);
  const home = await realpath(dataDir);
  const dir = join(home, 'cassandra');
  await mkdir(dir, { recursive: true });
  await checkDisk(dir);
  await awaitPrevious(dir, { onStatus, signal });
  await checkPort(port);

  const java = await ensureJava(engineDir, { onStatus, signal });
  const config = join(dir, 'cassandra.yaml');
  const { storage, jmx } = await rememberedPorts(join(dir, 'ports.json'), ['storage', 'jmx']);
  await writeFile(config, cassandraYaml({ dir, port, storagePort: storage, auth }));

  const log = join(home, 'logs', 'cassandra.log');
  return runEngine({
    command: {
      java: java.path,
      args: cassandraArguments({ dir, jars: java.jars, config, jmxPort: jmx, fast }),
      cwd: dir,
    },
    dir,
    dataDir,
    log: { path: log, fd: beginLog(log) },
    cql: { host: HOST, port },
    onStatus,
    signal,
  });
}

/**
 * @param {string} engineDir
 * @param {{ onStatus: (text: string) => void, signal?: AbortSignal }} options
 * @returns {Promise<{ path: string, jars: string }>} a Java 17 and the engine's jars
 */
async function ensureJava(engineDir, { onStatus, signal }) {
  const whole = await hasJars(engineDir);
  const { java, maven } = await findTools(whole ? ['java'] : ['java', 'maven']);
  const jars = await ensureJars({
    engineDir,
    maven: String(maven?.path),
    javaHome: String(java?.home),
    onStatus,
    signal,
  });
  return { path: String(java?.path), jars };
}

/** @param {number} port @throws {MillraceError} `port_taken` */
async function checkPort(port) {
  if (await isPortFree(port, HOST)) return;
  throw new MillraceError(
    'port_taken',
    `Something listens on ${HOST}:${port} already, where the local database should. If it is a database that you want to use, set CQL_CONTACT_POINTS=${HOST}:${port}; if not, set CQL_LOCAL_PORT to a free port.`,
  );
}
