import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../common/errors.ts';
import { installEngine } from '../engine/index.ts';
import type { JarSet } from '../engine/install/jars.ts';
import { HOST, isPortFree } from '../engine/ports.ts';
import { homeArgument } from '../engine/process/lock.ts';
import { beginLog } from '../engine/process/log.ts';
import { type Engine, runEngine } from '../engine/process/run.ts';
import { openServerDir } from '../engine/process/server-dir.ts';
import type { ServerOptions } from '../engine/server-options.ts';

/**
 * Starts a local JanusGraph for development and tests: a Gremlin Server that keeps its graph in a keyspace of the database. It is a Java
 * process with jars from Maven, and uses the supervisor, the lock and the log of infra/engine.
 */

export const GRAPH_JARS: JarSet = { pom: pathTo('pom.xml'), title: 'JanusGraph', count: 134, size: '56 MB' };

const FOLDER = 'graph';

const JAVA_FLAGS = [
  '-Xms64m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-XX:+ExitOnOutOfMemoryError',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
];

const SERVER_FILE = 'gremlin-server.yaml';
const GRAPH_FILE = 'janusgraph.properties';

export interface GraphOptions extends ServerOptions {
  /** where the graph is kept: `ADDRESS:PORT`, and a keyspace of its own, which the server creates */
  cql: { contactPoint: string; keyspace: string };
}

/**
 * Starts a Gremlin Server and waits until its graph is open. It runs in a separate process group, and ends at most 10 s after this process,
 * however this process ends.
 * @returns `contactPoint` is `ADDRESS:PORT`
 * @throws `java_missing`, `tool_missing`, `install_failed`, `data_dir_taken`, `port_taken`, `engine_failed`
 */
export async function startGraph(options: GraphOptions): Promise<Engine> {
  const { dataDir, port, cql, onStatus = () => {}, signal } = options;
  const { home, dir } = await openServerDir(dataDir, FOLDER, { onStatus, signal });
  if (!(await isPortFree(port))) {
    const message = `Something listens on ${HOST}:${port} already, where the local JanusGraph should. Set GRAPH_URL to another port.`;
    throw new MillraceError('port_taken', message);
  }
  const { java, jars } = await installEngine(options.engineDir ?? join(dataDir, 'engine'), {
    set: GRAPH_JARS,
    onStatus,
    signal,
  });
  await writeFiles(dir, port, cql);
  const log = join(home, 'logs', 'graph.log');
  return runEngine({
    command: {
      java,
      args: [
        homeArgument(dir),
        ...JAVA_FLAGS,
        '-cp',
        join(jars, '*'),
        'org.janusgraph.graphdb.server.JanusGraphServer',
        SERVER_FILE,
      ],
      cwd: dir,
    },
    dir,
    dataDir,
    log: { path: log, fd: beginLog(log) },
    server: {
      title: 'JanusGraph',
      address: `${HOST}:${port}`,
      answers: () => isOpen(port),
      boots: '10 to 25 s',
      memory: '0.6 GB',
    },
    onStatus,
    signal,
  });
}

/** The server reads its files from its working directory. */
async function writeFiles(dir: string, port: number, { contactPoint, keyspace }: GraphOptions['cql']) {
  const [address = HOST, cqlPort = '9042'] = contactPoint.split(':');
  const values: Record<string, string | number> = {
    'storage.hostname': address,
    'storage.port': cqlPort,
    'storage.cql.keyspace': keyspace,
  };
  const properties = (await readFile(pathTo(GRAPH_FILE), 'utf8')).replace(/^([\w.-]+)=.*$/gm, (line, name) =>
    name in values ? `${name}=${values[name]}` : line,
  );
  const server = (await readFile(pathTo(SERVER_FILE), 'utf8')).replace(/^port: .*$/m, `port: ${port}`);
  await writeFile(join(dir, GRAPH_FILE), properties);
  await writeFile(join(dir, SERVER_FILE), server);
  await copyFile(pathTo('globals.groovy'), join(dir, 'globals.groovy'));
}

/** The port answers before the graph is open. */
const isOpen = (port: number): Promise<boolean> =>
  fetch(`http://${HOST}:${port}/gremlin`, {
    method: 'POST',
    body: JSON.stringify({ gremlin: 'graph.isOpen()' }),
    signal: AbortSignal.timeout(5000),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );

function pathTo(name: string) {
  return fileURLToPath(new URL(name, import.meta.url));
}
