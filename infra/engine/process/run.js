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
/** Boots take 5 to 25 s, of three at once 18 to 53 s; on a machine that is very busy, several times that. */
const BOOT_MS = 300_000;
const STOP_WITHIN_MS = 9000;
/** Time for the supervisor to end after Java has ended. */
const SUPERVISOR_MS = 500;

/**
 * A running server.
 *
 * @typedef {object} Engine
 * @property {string} contactPoint `ADDRESS:PORT`
 * @property {string} log path of its log
 * @property {(options?: { withinMs?: number }) => Promise<void>} stop drains and ends it, within 9 s where nothing else
 *   is said, data kept; any number of times
 * @property {() => void} kill ends it at once
 * @property {Promise<MillraceError | null>} exited resolves when it has ended: null when it was stopped, else why it died
 */

/**
 * The program and its folder.
 *
 * @typedef {object} Server
 * @property {string} title of it, for messages
 * @property {string} address `ADDRESS:PORT`
 * @property {() => Promise<boolean>} answers whether it does
 * @property {string} boots how long it usually boots
 * @property {string} memory that it needs
 */

/**
 * Runs one server under a supervisor until it answers.
 *
 * @param {object} options
 * @param {{ java: string, args: string[], cwd: string }} options.command
 * @param {string} options.dir where the node keeps everything
 * @param {string} options.dataDir named in messages
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
    // A supervisor that was itself killed leaves Java behind, in its group.
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
