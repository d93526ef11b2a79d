import { join } from 'node:path';
import { addresses } from '../../common/addresses.js';
import { INGEST_NODE_FLAGS } from '../../common/node-flags.js';
import { LARGE_BATCHES, startEngine } from '../engine/index.js';
import { startKafka } from '../kafka/index.js';
import { createApiLog } from './api-log.js';
import { startChild } from './child.js';
import { simulatorArguments } from './flags.js';
import { untilReady } from './ready.js';
import { restartWhenKilled } from './restart-when-killed.js';

/** @import { Config } from '../../common/settings/config.js' */
/** @import { RunningProcesses } from './running-processes.js' */

/**
 * Time limits for the stop of each process, in ms: the simulator ends its sessions, the API settles the messages in flight, and Cassandra
 * drains. All together must take less than 10 s.
 */
const STOP_TIMEOUT_MS = { simulator: 2000, api: 3500, kafka: 3000, engine: 7000 };

/**
 * The arguments of all functions of this module that start a process.
 *
 * @typedef {object} Context
 * @property {Config} config
 * @property {string} root the repository
 * @property {NodeJS.ProcessEnv} env environment of the started processes
 * @property {RunningProcesses} processes
 * @property {(text: string) => void} print prints a line that stays on the terminal
 * @property {(text: string) => void} onStatus shows the current status
 * @property {AbortSignal} signal
 */

/**
 * @param {Omit<Context, 'env' | 'root' | 'print'>} context
 * @returns {Promise<string>} contact point of the local database
 */
export async function startDatabase({ config: { cql, dataDir }, processes, onStatus, signal }) {
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

/**
 * @param {Omit<Context, 'env' | 'root' | 'print'> & { port: number }} context
 * @returns {Promise<string>} bootstrap address of the local Kafka
 */
export async function startLocalKafka({ config: { dataDir }, port, processes, onStatus, signal }) {
  const kafka = await startKafka({ dataDir, port, onStatus, signal });
  processes.add({ title: 'Kafka', stopTimeoutMs: STOP_TIMEOUT_MS.kafka, ...kafka });
  return kafka.contactPoint;
}

/** Creates the topics in the local Kafka. @param {Context} context */
export const makeTopics = (context) =>
  runToEnd(context, 'api/commands/stream.js', ['init'], 'making of topics');

/** @param {Context} context */
export const migrate = (context) => runToEnd(context, 'api/commands/migrate.js', [], 'migration');

/** @param {Context} context @param {string} script @param {string[]} args @param {string} title */
async function runToEnd({ root, env, onStatus, signal }, script, args, title) {
  const child = startChild(join(root, script), { title, args, env, onLine: onStatus });
  const kill = () => child.kill();
  signal.addEventListener('abort', kill);
  const error = await child.exited;
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (error) throw error;
}

/** @param {Context} context */
export async function startApi({ config, root, env, processes, print, onStatus, signal }) {
  const path = join(config.dataDir, 'logs', 'api.log');
  const log = createApiLog(path, { print });
  const child = startChild(join(root, 'api/index.js'), {
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

/**
 * @param {Omit<Context, 'onStatus'> & { simulator: string[], duration: number | undefined, onEnd: () => void }} context
 *   `simulator`: arguments of the simulator; `duration` in ms; `onEnd`: called when the simulator has ended by itself
 */
export function startSimulator({ config, root, env, processes, print, simulator: words, duration, onEnd }) {
  const startedAt = Date.now();
  /** @returns {number | undefined} the rest of the duration in ms, because a restarted simulator has already run for a while */
  const timeLeft = () => duration && Math.max(1, duration - (Date.now() - startedAt));
  const start = () =>
    startChild(join(root, 'simulator/index.js'), {
      title: 'simulator',
      args: simulatorArguments(words, { broker: addresses(config).broker, duration: timeLeft() }),
      env,
    });
  const onKilled = (/** @type {string} */ signal, /** @type {boolean} */ again) =>
    print(
      `! The simulator was ended by ${signal}${again ? '. Everything else continues, and it is started again.' : ', and is not started again.'}`,
    );
  const simulator = restartWhenKilled(start, { onKilled });
  processes.add({ title: 'simulator', stopTimeoutMs: STOP_TIMEOUT_MS.simulator, ...simulator });
  simulator.exited.then((error) => {
    if (!error) onEnd();
  }, onEnd);
}
