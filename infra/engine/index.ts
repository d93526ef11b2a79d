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
 * @property {number} port CQL port on 127.0.0.1; the node chooses free ports for the rest, which stay the same at the next start
 * @property {string} [engineDir] folder of the jars; default: `engine` under the data directory
 * @property {boolean} [fast] true: profile `fast`, which needs less CPU and memory and has a lower throughput, for tests
 * @property {Profile} [profile] how the node uses the machine; default: `fast` if `fast` is set, otherwise `full`
 * @property {boolean} [auth] true: clients sign in with a role and its password; the first role is `cassandra`, password `cassandra`
 * @property {Tls} [tls] TLS for clients; missing: clients connect without TLS
 * @property {Record<string, string>} [settings] additional settings of cassandra.yaml
 * @property {boolean} [durable] true: the node answers a write only when the write is on the disk, because no replica has it. The highest
 *   rate is then less than half
 * @property {(text: string) => void} [onStatus] is called with the current status, many times
 * @property {AbortSignal} [signal] aborts the start, and ends the processes that were started
 */

/**
 * Starts a single-node Apache Cassandra 5.0 and waits until it answers CQL. It runs in a separate process group, and ends at most 10 s
 * after this process, however this process ends.
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
