import { join } from 'node:path';
import type { Tls } from './cassandra-yaml.ts';
import type { Profile } from './command.ts';
import { startNode } from './node.ts';
import type { Nodetool } from './nodetool.ts';
import type { Engine } from './process/run.ts';
import type { ServerOptions } from './server-options.ts';

export { LARGE_BATCHES } from './cassandra-yaml.ts';
export { startCluster } from './cluster.ts';
export { installEngine, neededTools } from './install/index.ts';

interface EngineOptions extends ServerOptions {
  /** true: profile `fast`, which needs less CPU and memory and has a lower throughput, for tests */
  fast?: boolean;
  profile?: Profile;
  /** true: clients sign in; the first role is `cassandra`, password `cassandra` */
  auth?: boolean;
  tls?: Tls;
  settings?: Record<string, string>;
  /**
   * true: the node answers a write only when the write is on the disk, because no replica has it. The highest
   * rate is then less than half
   */
  durable?: boolean;
}

/**
 * Starts a single-node Apache Cassandra 5.0 and waits until it answers CQL. It runs in a separate process group, and ends at most 10 s
 * after this process, however this process ends.
 * @throws `java_missing`, `tool_missing`, `install_failed`, `disk_full`, `data_dir_taken`, `port_taken`, `engine_failed`
 */
export const startEngine = ({
  dataDir,
  port,
  engineDir,
  fast,
  profile,
  onStatus,
  ...others
}: EngineOptions): Promise<Engine & { nodetool: Nodetool }> =>
  startNode({
    ...others,
    dataDir,
    place: { port },
    engineDir: engineDir ?? join(dataDir, 'engine'),
    profile: profile ?? (fast ? 'fast' : 'full'),
    onStatus: onStatus ?? (() => {}),
  });
