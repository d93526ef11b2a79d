import { addresses } from '../../common/addresses.ts';
import { removeDevAddresses, writeDevAddresses } from '../../common/dev-addresses.ts';
import { callAfter } from '../../common/durations.ts';
import { messageOf } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import type { StatusLine } from '../../common/status-line.ts';
import { buildDashboard, buildManual } from './build.ts';
import type { DevFlags } from './flags.ts';
import { buildPlant } from './plant.ts';
import { prepare } from './prepare.ts';
import { createRunningProcesses, type RunningProcesses } from './running-processes.ts';
import { childEnvironment, graphPort, kafkaPort, readDevSettings } from './settings.ts';
import {
  makeTopics,
  migrate,
  startApi,
  startDatabase,
  startLocalGraph,
  startLocalKafka,
  startSimulator,
} from './start.ts';
import { shownPath, welcome } from './welcome.ts';

/** Time limit for the stop of all processes, in ms: all must have stopped within 10 s, with a margin. */
const STOP_WITHIN_MS = 9500;

interface Run {
  flags: DevFlags;
  root: string;
  line: StatusLine;
  /** aborted when a person asks for a stop */
  stop: AbortSignal;
  /** called at the second signal */
  kills: Array<() => void>;
}

/**
 * `npm run dev`, stage two. It starts the database, the API with broker and dashboard, and the simulator. It runs until a person stops it,
 * its duration is over, or a process fails. In any case it stops all processes at the end.
 * @throws the reason why a process could not start, or failed
 */
export async function runDev({ flags, root, line, stop, kills }: Run) {
  const config = await readDevSettings();
  const print = onOwnLine(line);
  const processes = createRunningProcesses({ withinMs: STOP_WITHIN_MS, print });
  kills.push(processes.kill, () => removeDevAddresses(config.dataDir));
  // `stop` is aborted by a person; `end` by a failed process or at the end of the duration.
  const end = new AbortController();
  processes.failed.catch((error) => end.abort(error));
  const signal = AbortSignal.any([stop, end.signal]);
  const finish = () => end.abort(null);
  try {
    await prepare(config, { fresh: flags.fresh, kafka: flags.kafka, graph: flags.graph, line, signal });
    await start(config, { flags, root, line, print, processes, signal, finish });
    await aborted(signal);
  } catch (error) {
    // After an interrupt, the error of the interrupted step is ignored.
    if (!signal.aborted) throw error;
  } finally {
    line.clear();
    removeDevAddresses(config.dataDir);
    if (stop.aborted) print('Stopping; Ctrl-C again kills at once.');
    await processes.stop();
  }
  if (end.signal.reason) throw end.signal.reason;
  print(`All stopped. The data stays in ${shownPath(root, config.dataDir)}`);
}

interface StartOptions {
  print: (text: string) => void;
  processes: RunningProcesses;
  signal: AbortSignal;
  finish: () => void;
}

async function start(
  config: Config,
  { flags, root, line, print, processes, signal, finish }: Omit<Run, 'stop' | 'kills'> & StartOptions,
) {
  const step = stepsOf(line);
  const common = { config, processes, signal };
  const local = !config.cql.contactPoints;
  // The build takes two seconds of CPU time. It runs while the database starts, which mostly waits.
  const dashboard = step('dashboard built', () => buildDashboard({ root, signal }));
  dashboard.catch(() => {
    // The error is reported below, where the API needs the dashboard.
  });
  const engine = local
    ? await step('database ready', (onStatus) => startDatabase({ ...common, onStatus }))
    : null;
  const kafka = flags.kafka
    ? await step('Kafka ready', (onStatus) =>
        startLocalKafka({ ...common, port: kafkaPort(config), onStatus }),
      )
    : null;
  const graph =
    flags.graph && engine
      ? await step('JanusGraph ready', (onStatus) =>
          startLocalGraph({ ...common, port: graphPort(config), contactPoint: engine, onStatus }),
        )
      : null;
  const context = { ...common, root, print, env: childEnvironment(config, engine, kafka) };
  await step('schema up to date', (onStatus) => migrate({ ...context, onStatus }));
  if (kafka) await step('topics of Kafka created', (onStatus) => makeTopics({ ...context, onStatus }));
  await dashboard;
  await step('API, MQTT broker and dashboard ready', (onStatus) => startApi({ ...context, onStatus }));

  writeDevAddresses(config, { ...(kafka && { STREAM_KAFKA: kafka }), ...(graph && { GRAPH_URL: graph }) });
  print(
    welcome(config, {
      root,
      contactPoints: engine ?? String(config.cql.contactPoints),
      kafka,
      graph,
      manual: flags.manual,
    }),
  );
  if (flags.manual) void buildManual({ root, signal, print });
  const onEnd = () => {
    if (signal.aborted) return;
    if (flags.duration) finish();
    else print('! The simulator was stopped; everything else goes on.');
  };
  if (flags.simulator) {
    const { apiToken: token, tls } = config.http;
    await buildPlant(addresses(config).dashboard, flags.simulator, {
      ...(token && { token }),
      ...(tls && { certificate: tls.cert }),
    }).catch((error) => print(`! The simulated devices have no assets: ${messageOf(error)}`));
    startSimulator({ ...context, simulator: flags.simulator, duration: flags.duration, onEnd });
  } else if (flags.duration) {
    signal.addEventListener('abort', callAfter(flags.duration, finish), { once: true });
  }
}

/** Shows the status of the current step, and prints a finished step with its duration, unless its result is false. */
const stepsOf =
  (line: StatusLine) =>
  /** @param done text that is printed after the step, such as `database ready` */
  async <T>(done: string, task: (onStatus: (text: string) => void) => Promise<T>): Promise<T> => {
    const began = Date.now();
    const result = await task(line.update);
    if (result === false) return result;
    line.clear();
    line.print(`✓ ${done} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
    return result;
  };

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Clears the status line of the simulator first, which shares the terminal. The simulator then writes it again. */
const onOwnLine = (line: StatusLine) => (text: string) => {
  if (process.stdout.isTTY) process.stdout.write('\r\u001b[2K');
  line.print(text);
};
