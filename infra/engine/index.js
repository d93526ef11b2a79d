import { join } from 'node:path';
import { startNode } from './node.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Tls } from './cassandra-yaml.js' */
/** @import { Profile } from './command.js' */
/** @import { Nodetool } from './nodetool.js' */
/** @import { Engine } from './process/run.js' */

export { LARGE_BATCHES } from './cassandra-yaml.js';
export { startCluster } from './cluster.js';
export { installEngine, neededTools } from './install/index.js';

/**
 * @typedef {object} EngineOptions
 * @property {string} dataDir directory of all data; created if it is missing
 * @property {number} port CQL port on 127.0.0.1; the other ports are free ports, which stay the same at the next start
 * @property {string} [engineDir] folder of the jars; default: `engine` under the data directory
 * @property {boolean} [fast] starts with less CPU and memory, and has a lower throughput, for tests
 * @property {Profile} [profile] how the node uses the machine; default: `fast` if `fast` is set, otherwise `full`
 * @property {boolean} [auth] roles and passwords are on; the first role is `cassandra`, password `cassandra`
 * @property {Tls} [tls] clients speak TLS
 * @property {Record<string, string>} [settings] further settings of cassandra.yaml
 * @property {boolean} [durable] an answered write is on the disk, at less than half of the highest rate: a single node has no
 *   replica that keeps the write
 * @property {(text: string) => void} [onStatus] gets the current status, often
 * @property {AbortSignal} [signal] aborts the start, and ends the processes that were started
 */

/**
 * Starts a single-node Apache Cassandra 5.0 and waits until it answers CQL. It runs in a process group of its own and
 * ends at most 10 s after this process, however this process ends.
 *
 * @param {EngineOptions} options
 * @returns {Promise<Engine & { nodetool: Nodetool }>}
 * @throws {MillraceError} `java_missing`, `tool_missing`, `install_failed`, `disk_full`, `data_dir_taken`, `port_taken`, `engine_failed`
 */
export const startEngine = ({ dataDir, port, engineDir, fast, profile, onStatus, ...others }) =>
  startNode({
    ...others,
    dataDir,
    place: { port },
    engineDir: engineDir ?? join(dataDir, 'engine'),
    profile: profile ?? (fast ? 'fast' : 'full'),
    onStatus: onStatus ?? (() => {}),
  });
