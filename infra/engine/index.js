import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../common/data-dir.js';
import { findTools } from '../bootstrap/tools.js';
import { cassandraYaml } from './cassandra-yaml.js';
import { cassandraArguments } from './command.js';
import { checkDisk } from './disk.js';
import { ensureJars, hasJars } from './jars.js';
import { beginLog } from './log.js';
import { checkEnginePort, HOST, rememberedPorts } from './ports.js';
import { awaitPrevious, NODE_FOLDER } from './previous.js';
import { runEngine } from './run.js';

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
 * @throws {import('../../common/errors.js').MillraceError} `java_missing`, `tool_missing`, `install_failed`, `disk_full`, `data_dir_taken`, `port_taken`, `engine_failed`
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
  // One directory by two names, through a link, is one directory: there is one lock for it.
  const home = await realpath(dataDir);
  const dir = join(home, NODE_FOLDER);
  await mkdir(dir, { recursive: true });
  await checkDisk(dir);
  await awaitPrevious(dataDir, { onStatus, signal });
  await checkEnginePort(port);

  const { java, jars } = await installEngine(engineDir, { onStatus, signal });
  const config = join(dir, 'cassandra.yaml');
  const { storage, jmx } = await rememberedPorts(join(dir, 'ports.json'), ['storage', 'jmx']);
  await writeFile(config, cassandraYaml({ dir, port, storagePort: storage, auth }));

  const log = join(home, 'logs', 'cassandra.log');
  return runEngine({
    command: {
      java,
      args: cassandraArguments({ dir, jars, config, jmxPort: jmx, fast }),
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
 * Finds a Java 17, and fetches the engine's jars unless they are there.
 *
 * @param {string} engineDir where jars are kept
 * @param {{ onStatus: (text: string) => void, signal?: AbortSignal }} options
 * @returns {Promise<{ java: string, jars: string }>} paths
 * @throws {import('../../common/errors.js').MillraceError} `java_missing`, `tool_missing`, `install_failed`, `disk_full`
 */
export async function installEngine(engineDir, { onStatus, signal }) {
  const { java, maven } = await findTools(await neededTools(engineDir));
  const jars = await ensureJars({
    engineDir,
    maven: String(maven?.path),
    javaHome: String(java?.home),
    onStatus,
    signal,
  });
  return { java: String(java?.path), jars };
}

/** @param {string} engineDir @returns {Promise<('java' | 'maven')[]>} Maven is for fetching the jars alone */
export const neededTools = async (engineDir) => ((await hasJars(engineDir)) ? ['java'] : ['java', 'maven']);
