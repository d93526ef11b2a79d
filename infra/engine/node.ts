import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../common/data-dir.js';
import { cassandraYaml } from './cassandra-yaml.js';
import { cassandraArguments } from './command.js';
import { checkDisk } from './disk.js';
import { installEngine } from './install/index.js';
import { createNodetool } from './nodetool.js';
import { checkEnginePort, HOST, rememberedPorts } from './ports.js';
import { answersCql } from './probe.js';
import { beginLog } from './process/log.js';
import { awaitPrevious, NODE_FOLDER } from './process/previous.js';
import { runEngine } from './process/run.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Ring, Tls } from './cassandra-yaml.js' */
/** @import { Profile } from './command.js' */
/** @import { Nodetool } from './nodetool.js' */
/** @import { Engine } from './process/run.js' */

/**
 * The address of a node, and its place in its cluster.
 *
 * @typedef {object} Place
 * @property {string} [host] default: 127.0.0.1
 * @property {number} port port for CQL
 * @property {number} [storagePort] default: a free port, which stays the same at the next start
 * @property {Ring} [ring] missing: the cluster has only this node
 */

/**
 * Starts one node of Apache Cassandra 5.0 and waits until it answers CQL. It runs in a separate process group, and ends at most 10 s after
 * this process, however this process ends.
 *
 * @param {object} options
 * @param {string} options.dataDir directory of all data; created if it is missing
 * @param {Place} options.place
 * @param {string} options.engineDir folder of the jars
 * @param {Profile} options.profile
 * @param {boolean} [options.auth]
 * @param {Tls} [options.tls]
 * @param {boolean} [options.durable]
 * @param {Record<string, string>} [options.settings] additional settings of cassandra.yaml
 * @param {(text: string) => void} options.onStatus is called with the current status, many times
 * @param {AbortSignal} [options.signal] aborts the start, and ends the processes that were started
 * @returns {Promise<Engine & { nodetool: Nodetool }>}
 * @throws {MillraceError} the same codes as `startEngine`
 */
export async function startNode(options) {
  const { dataDir, place, engineDir, profile, auth = false, durable = false } = options;
  const { settings, tls, onStatus, signal } = options;
  const { host = HOST, port, ring } = place;
  await claimDataDir(dataDir);
  // The real path is used, so that a directory has one lock even if it is reached through a link.
  const home = await realpath(dataDir);
  const dir = join(home, NODE_FOLDER);
  await mkdir(dir, { recursive: true });
  await checkDisk(dir);
  await awaitPrevious(dataDir, { onStatus, signal });
  await checkEnginePort(port, host);

  const { java, jars } = await installEngine(engineDir, { onStatus, signal });
  const config = join(dir, 'cassandra.yaml');
  const ports = await rememberedPorts(join(dir, 'ports.json'), ['storage', 'jmx']);
  const storagePort = place.storagePort ?? ports.storage;
  await writeFile(
    config,
    cassandraYaml({ dir, host, port, storagePort, auth, durable, tls, ring, settings }),
  );

  const log = join(home, 'logs', 'cassandra.log');
  const engine = await runEngine({
    command: {
      java,
      args: cassandraArguments({ dir, jars, config, jmxPort: ports.jmx, profile, alone: !ring }),
      cwd: dir,
    },
    dir,
    dataDir,
    log: { path: log, fd: beginLog(log) },
    server: {
      title: 'Cassandra',
      address: `${host}:${port}`,
      answers: () => answersCql({ host, port, ca: tls?.ca, pem: tls?.pem }),
      boots: '5 to 15 s',
      memory: '1.5 GB',
    },
    onStatus,
    signal,
  });
  return { ...engine, nodetool: createNodetool({ java, jars, home: dir, jmxPort: ports.jmx, signal }) };
}
