import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../../common/errors.ts';
import { explainEnd } from './log.ts';
import { killGroup, signalProcess } from './processes.ts';

const SUPERVISOR = fileURLToPath(new URL('supervisor.ts', import.meta.url));
const PROBE_EVERY_MS = 150;
/** Time limit for the boot of a server, in ms. A boot takes 5 to 25 s, three at once 18 to 53 s, and much longer on a busy machine. */
const BOOT_MS = 300_000;
const STOP_WITHIN_MS = 9000;
/** Time for the supervisor to end after the Java process has ended, in ms. */
const SUPERVISOR_MS = 500;

export interface Engine {
  contactPoint: string;
  log: string;
  /** within `withinMs` (default 9 s); keeps the data; may be called again */
  stop: (options?: { withinMs?: number }) => Promise<void>;
  kill: () => void;
  /** to the server and its supervisor, such as SIGSTOP */
  signal: (signal: NodeJS.Signals) => void;
  /** null: it was stopped; otherwise the reason */
  exited: Promise<MillraceError | null>;
}

interface Server {
  title: string;
  /** `ADDRESS:PORT` */
  address: string;
  answers: () => Promise<boolean>;
  boots: string;
  memory: string;
}

/** @throws `engine_failed`, `disk_full`, `data_dir_taken` */
export async function runEngine({
  command,
  dir,
  dataDir,
  log,
  server,
  onStatus,
  signal,
}: {
  command: { java: string; args: string[]; cwd: string };
  dir: string;
  dataDir: string;
  log: { path: string; fd: number };
  server: Server;
  onStatus: (text: string) => void;
  signal?: AbortSignal;
}): Promise<Engine> {
  const supervisor = fork(SUPERVISOR, [dir, JSON.stringify(command)], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  closeSync(log.fd);
  const state = { ready: false, stopping: false, refused: false };
  supervisor.on('message', (said: { refused: boolean }) => Object.assign(state, said));

  const exited = once(supervisor, 'exit').then(async () => {
    // If the supervisor was killed, its Java process may still run in the same process group.
    if (supervisor.pid) await killGroup(supervisor.pid);
    if (state.refused)
      return new MillraceError('data_dir_taken', `Another ${server.title} works in ${dir} already.`);
    return state.stopping ? null : explainEnd(log.path, { ...server, ready: state.ready, dataDir });
  });
  const send = (name: NodeJS.Signals) => {
    if (supervisor.pid) signalProcess(-supervisor.pid, name);
  };
  const kill = () => {
    state.stopping = true;
    send('SIGKILL');
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
  return { contactPoint: server.address, log: log.path, stop, kill, signal: send, exited };
}

async function untilAnswers(
  { title, boots, answers }: Server,
  {
    exited,
    onStatus,
    signal,
  }: { exited: Promise<MillraceError | null>; onStatus: (text: string) => void; signal?: AbortSignal },
) {
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
