import { join } from 'node:path';
import { addresses } from '../../common/addresses.ts';
import { INGEST_NODE_FLAGS } from '../../common/node-flags.ts';
import type { Config } from '../../common/settings/config.ts';
import { LARGE_BATCHES, startEngine } from '../engine/index.ts';
import { startGraph } from '../graph/index.ts';
import { startKafka } from '../kafka/index.ts';
import { createApiLog } from './api-log.ts';
import { startChild } from './child.ts';
import { simulatorArguments } from './flags.ts';
import { untilReady } from './ready.ts';
import type { RunningProcesses } from './running-processes.ts';

/**
 * Time limits for the stop of each process, in ms: the simulator ends its sessions, the API settles the messages in flight, and Cassandra
 * drains. All together must take less than 10 s.
 */
const STOP_TIMEOUT_MS = { simulator: 2000, api: 3500, kafka: 3000, graph: 2000, engine: 7000 };

interface Context {
  config: Config;
  root: string;
  env: NodeJS.ProcessEnv;
  processes: RunningProcesses;
  print: (text: string) => void;
  onStatus: (text: string) => void;
  signal: AbortSignal;
}

export async function startDatabase({
  config: { cql, dataDir },
  processes,
  onStatus,
  signal,
}: Omit<Context, 'env' | 'root' | 'print'>): Promise<string> {
  const engine = await startEngine({
    dataDir,
    port: cql.localPort,
    durable: true,
    settings: LARGE_BATCHES,
    onStatus,
    signal,
  });
  processes.add({ title: 'database', stopTimeoutMs: STOP_TIMEOUT_MS.engine, ...engine });
  return engine.contactPoint;
}

/** @param contactPoint of the database, in which the graph has a keyspace of its own @returns GRAPH_URL */
export async function startLocalGraph({
  config: { cql, dataDir },
  port,
  contactPoint,
  processes,
  onStatus,
  signal,
}: Omit<Context, 'env' | 'root' | 'print'> & { port: number; contactPoint: string }): Promise<string> {
  const place = { contactPoint, keyspace: `${cql.keyspace}_graph` };
  const graph = await startGraph({ dataDir, port, cql: place, onStatus, signal });
  processes.add({ title: 'JanusGraph', stopTimeoutMs: STOP_TIMEOUT_MS.graph, ...graph });
  return `http://${graph.contactPoint}/gremlin`;
}

export async function startLocalKafka({
  config: { dataDir },
  port,
  processes,
  onStatus,
  signal,
}: Omit<Context, 'env' | 'root' | 'print'> & { port: number }): Promise<string> {
  const kafka = await startKafka({ dataDir, port, onStatus, signal });
  processes.add({ title: 'Kafka', stopTimeoutMs: STOP_TIMEOUT_MS.kafka, ...kafka });
  return kafka.contactPoint;
}

export const makeTopics = (context: Context) =>
  runToEnd(context, 'api/features/kafka/command.ts', ['init'], 'creation of the topics');

export const migrate = (context: Context) => runToEnd(context, 'api/commands/migrate.ts', [], 'migration');

async function runToEnd(
  { root, env, onStatus, signal }: Context,
  script: string,
  args: string[],
  title: string,
) {
  const child = startChild(join(root, script), { title, args, env, onLine: onStatus });
  const kill = () => child.kill();
  signal.addEventListener('abort', kill);
  const error = await child.exited;
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (error) throw error;
}

export async function startApi({ config, root, env, processes, print, onStatus, signal }: Context) {
  const path = join(config.dataDir, 'logs', 'api.log');
  const log = createApiLog(path, { print });
  const child = startChild(join(root, 'api/index.ts'), {
    title: 'API',
    nodeFlags: INGEST_NODE_FLAGS,
    env,
    onLine: log.write,
  });
  child.exited.then(log.close, log.close);
  processes.add({ title: 'API', stopTimeoutMs: STOP_TIMEOUT_MS.api, ...child });
  await untilReady(addresses(config).dashboard, {
    token: config.http.apiToken,
    certificate: config.http.tls?.cert,
    log: path,
    onStatus,
    signal,
  });
}

/** @param context `simulator`: arguments of the simulator; `duration` in ms; `onEnd`: called when the simulator has ended by itself */
export function startSimulator({
  config,
  root,
  env,
  processes,
  simulator: words,
  duration,
  onEnd,
}: Omit<Context, 'onStatus' | 'print'> & {
  simulator: string[];
  duration: number | undefined;
  onEnd: () => void;
}) {
  const simulator = startChild(join(root, 'simulator/index.ts'), {
    title: 'simulator',
    args: simulatorArguments(words, { broker: addresses(config).broker, duration }),
    env,
  });
  // A person or the system, when memory is low, may kill the simulator. Everything else continues.
  const exited = simulator.exited.then((error) => (simulator.signal ? null : error));
  processes.add({ title: 'simulator', stopTimeoutMs: STOP_TIMEOUT_MS.simulator, ...simulator, exited });
  exited.then((error) => {
    if (!error) onEnd();
  }, onEnd);
}
