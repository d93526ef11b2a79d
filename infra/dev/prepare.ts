import { join } from 'node:path';
import { claimDataDir, emptyDataDir } from '../../common/data-dir.ts';
import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import type { StatusLine } from '../../common/status-line.ts';
import { ensureTools } from '../bootstrap/index.ts';
import { checkDisk } from '../engine/disk.ts';
import { installEngine, neededTools } from '../engine/index.ts';
import { CASSANDRA_JARS } from '../engine/install/jars.ts';
import { awaitPrevious } from '../engine/process/previous.ts';
import { GRAPH_JARS } from '../graph/index.ts';
import { KAFKA_JARS } from '../kafka/index.ts';
import { checkPorts } from './settings.ts';

/**
 * Folders of `DATA_DIR` that `--fresh` does not delete. `engine` holds the downloaded jars. `tls` holds the authority of
 * `npm run certificates`, which clients already trust.
 */
export const KEPT_FOLDERS = ['engine', 'tls'];

/**
 * @throws `usage`, `data_dir_taken`, `port_taken`, `not_ours`, `disk_full`, `java_missing`, `tool_missing`,
 * `install_failed`
 */
export async function prepare(
  config: Config,
  {
    fresh,
    kafka,
    graph,
    line,
    signal,
  }: { fresh: boolean; kafka: boolean; graph: boolean; line: StatusLine; signal: AbortSignal },
) {
  const { dataDir } = config;
  const local = !config.cql.contactPoints;
  if (fresh && !local) {
    throw new MillraceError(
      'usage',
      '--fresh empties the local database, never a cluster; CQL_CONTACT_POINTS is set.',
    );
  }
  if (graph && !local) {
    throw new MillraceError(
      'usage',
      '--graph keeps its graph in the local database; CQL_CONTACT_POINTS is set. Start JanusGraph on the cluster, and set GRAPH_URL.',
    );
  }
  const options = { onStatus: line.update, signal };
  if (local) await awaitPrevious(dataDir, options);
  await checkPorts(config, { local });
  if (fresh) await emptyDataDir(dataDir, KEPT_FOLDERS);
  await claimDataDir(dataDir);
  const engineDir = join(dataDir, 'engine');
  if (local) await checkDisk(dataDir);
  const wanted = [local && CASSANDRA_JARS, kafka && KAFKA_JARS, graph && GRAPH_JARS];
  for (const set of wanted.filter((set) => set !== false)) {
    await ensureTools(await neededTools(engineDir, set), options);
    await installEngine(engineDir, { ...options, set });
  }
  line.clear();
}
