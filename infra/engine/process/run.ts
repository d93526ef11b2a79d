import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.js';
import { explainEnd } from './log.js';
import { killGroup, signalProcess } from './processes.js';

const SUPERVISOR = fileURLToPath(new URL('supervisor.js', import.meta.url));
const PROBE_EVERY_MS = 150;
/** Time limit for the boot of a server, in ms. A boot takes 5 to 25 s, three at once 18 to 53 s, and much longer on a busy machine. */
const BOOT_MS = 300_000;
const STOP_WITHIN_MS = 9000;
/** Time for the supervisor to end after the Java process has ended, in ms. */
const SUPERVISOR_MS = 500;

/**
 * A running server.
 *
 * @typedef {object} Engine
 * @property {string} contactPoint `ADDRESS:PORT`
 * @property {string} log path of the log file
 * @property {(options?: { withinMs?: number }) => Promise<void>} stop drains and ends the server within `withinMs` (default 9 s), and
 *   keeps its data; repeated calls are allowed
 * @property {() => void} kill ends the server at once
 * @property {Promise<MillraceError | null>} exited resolves when the server has ended; null: it was stopped; otherwise the reason
 */

/**
 * A kind of server, for messages and for the check that it answers.
 *
 * @typedef {object} Server
 * @property {string} title name of the server, for messages
 * @property {string} address `ADDRESS:PORT`
 * @property {() => Promise<boolean>} answers checks whether the server answers
 * @property {string} boots usual duration of a boot, for messages
 * @property {string} memory memory that the server needs, for messages
 */

/**
 * Starts one server under a supervisor, and waits until the server answers.
 *
 * @param {object} options
 * @param {{ java: string, args: string[], cwd: string }} options.command
 * @param {string} options.dir directory of all files of the server
 * @param {string} options.dataDir data directory that messages name
 * @param {{ path: string, fd: number }} options.log
 * @param {Server} options.server
 * @param {(text: string) => void} options.onStatus
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<Engine>}
 * @throws {MillraceError} `engine_failed`, `disk_full`, `data_dir_taken`
 */
export async function runEngine({ command, dir, dataDir, log, server, onStatus, signal }) {
  const supervisor = fork(SUPERVISOR, [dir, JSON.stringify(command)], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  closeSync(log.fd);
  const state = { ready: false, stopping: false, refused: false };
  supervisor.on('message', (/** @type {{ refused: boolean }} */ said) => Object.assign(state, said));

  const exited = once(supervisor, 'exit').then(async () => {
    // If the supervisor was killed, its Java process may still run in the same process group.
    if (supervisor.pid) await killGroup(supervisor.pid);
    if (state.refused)
      return new MillraceError('data_dir_taken', `Another ${server.title} works in ${dir} already.`);
    return state.stopping ? null : explainEnd(log.path, { ...server, ready: state.ready, dataDir });
  });
  const kill = () => {
    state.stopping = true;
    if (supervisor.pid) signalProcess(-supervisor.pid, 'SIGKILL');
  };
  const stop = async ({ withinMs = STOP_WITHIN_MS } = {}) => {
    state.stopping = true;
    if (supervisor.connected) supervisor.send({ stop: withinMs - SUPERVISOR_MS });
    const late = setTimeout(kill, withinMs);
    await exited;
    clearTimeout(late);
  };

  try {
    await untilAnswers(server, { exited, onStatus, signal });
  } catch (error) {
    await stop();
    throw error;
  }
  state.ready = true;
  return { contactPoint: server.address, log: log.path, stop, kill, exited };
}

/**
 * @param {Server} server
 * @param {{ exited: Promise<MillraceError | null>, onStatus: (text: string) => void, signal?: AbortSignal }} options
 */
async function untilAnswers({ title, boots, answers }, { exited, onStatus, signal }) {
  const began = Date.now();
  let ended = false;
  const watch = exited.then((error) => {
    ended = true;
    return error;
  });
  while (!(await answers()) || ended) {
    if (ended) throw (await watch) ?? new MillraceError('engine_failed', `The local ${title} was stopped.`);
    const waited = Date.now() - began;
    if (waited > BOOT_MS) {
      throw new MillraceError('engine_failed', `The local ${title} gave no answer in ${BOOT_MS / 1000} s.`);
    }
    onStatus(`${title} boots: ${Math.round(waited / 1000)} s (usually ${boots})`);
    await sleep(PROBE_EVERY_MS, undefined, { signal });
  }
}
