import { removeDevAddresses, writeDevAddresses } from '../../common/dev-addresses.js';
import { callAfter } from '../../common/durations.js';
import { buildDashboard, buildManual } from './build.js';
import { prepare } from './prepare.js';
import { createRunningProcesses } from './running-processes.js';
import { childEnvironment, kafkaPort, readDevSettings } from './settings.js';
import { makeTopics, migrate, startApi, startDatabase, startLocalKafka, startSimulator } from './start.js';
import { shownPath, welcome } from './welcome.js';

/** @import { MillraceError } from '../../common/errors.js' */
/** @import { Config } from '../../common/settings/config.js' */
/** @import { StatusLine } from '../../common/status-line.js' */
/** @import { DevFlags } from './flags.js' */
/** @import { RunningProcesses } from './running-processes.js' */

/** Time limit for the stop of all processes, in ms: all must have stopped within 10 s, with a margin. */
const STOP_WITHIN_MS = 9500;

/**
 * The input that stage one of `npm run dev` passes to stage two.
 *
 * @typedef {object} Run
 * @property {DevFlags} flags
 * @property {string} root the repository
 * @property {StatusLine} line
 * @property {AbortSignal} stop aborted when a person asks for a stop
 * @property {(kill: () => void) => void} onKill registers the function that a second signal calls
 */

/**
 * `npm run dev`, stage two. It starts the database, the API with broker and dashboard, and the simulator. It runs until a person stops it,
 * its duration is over, or a process fails. In any case it stops all processes at the end.
 *
 * @param {Run} run
 * @throws {MillraceError} the reason why a process could not start, or failed
 */
export async function runDev({ flags, root, line, stop, onKill }) {
  const config = await readDevSettings();
  const print = onOwnLine(line);
  const processes = createRunningProcesses({ withinMs: STOP_WITHIN_MS, print });
  onKill(processes.kill);
  onKill(() => removeDevAddresses(config.dataDir));
  // `stop` is aborted by a person; `end` by a failed process or at the end of the duration.
  const end = new AbortController();
  processes.failed.catch((error) => end.abort(error));
  const signal = AbortSignal.any([stop, end.signal]);
  const finish = () => end.abort(null);
  try {
    await prepare(config, { fresh: flags.fresh, kafka: flags.kafka, line, signal });
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

/**
 * The arguments of `start`, in addition to those of `Run`.
 *
 * @typedef {object} StartOptions
 * @property {(text: string) => void} print
 * @property {RunningProcesses} processes
 * @property {AbortSignal} signal
 * @property {() => void} finish
 */

/**
 * @param {Config} config
 * @param {Omit<Run, 'stop' | 'onKill'> & StartOptions} run
 */
async function start(config, { flags, root, line, print, processes, signal, finish }) {
  const step = stepsOf(line);
  const common = { config, processes, signal };
  const local = !config.cql.contactPoints;
  // The build takes two seconds of CPU time. It runs while the database starts, which mostly waits.
  const dashboard = buildDashboard({ root, signal });
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
  const context = { ...common, root, print, env: childEnvironment(config, engine, kafka) };
  await step('schema up to date', (onStatus) => migrate({ ...context, onStatus }));
  if (kafka) await step('topics made', (onStatus) => makeTopics({ ...context, onStatus }));
  await step('dashboard built', () => dashboard);
  await step('API, MQTT broker and dashboard ready', (onStatus) => startApi({ ...context, onStatus }));

  writeDevAddresses(config, kafka);
  print(
    welcome(config, {
      root,
      contactPoints: engine ?? String(config.cql.contactPoints),
      kafka,
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
    startSimulator({ ...context, simulator: flags.simulator, duration: flags.duration, onEnd });
  } else if (flags.duration) {
    signal.addEventListener('abort', callAfter(flags.duration, finish), { once: true });
  }
}

/**
 * Returns a function that runs a step of the start. It shows the status of the current step, and prints a finished step with its duration.
 *
 * @param {StatusLine} line
 */
const stepsOf =
  (line) =>
  /**
   * @template T
   * @param {string} done text that is printed after the step, such as `database ready`
   * @param {(onStatus: (text: string) => void) => Promise<T>} task
   * @returns {Promise<T>}
   */
  async (done, task) => {
    const began = Date.now();
    const result = await task(line.update);
    line.clear();
    line.print(`✓ ${done} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
    return result;
  };

/** @param {AbortSignal} signal @returns {Promise<void>} */
const aborted = (signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Returns a function that prints a line of text. The simulator shows its own status line on the same terminal, so the function clears this
 * status line first. The simulator then writes it again.
 *
 * @param {StatusLine} line
 */
const onOwnLine = (line) => (/** @type {string} */ text) => {
  if (process.stdout.isTTY) process.stdout.write('\r\u001b[2K');
  line.print(text);
};
