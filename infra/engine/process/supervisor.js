/**
 * Keeps one Cassandra, in a process group of its own, and ends it when its parent asks or dies.
 *
 * Ctrl-C in a terminal reaches the whole foreground group, so the engine must not be in it: the API would lose its database while it
 * drains. A process outside the group survives its parent. So this supervisor watches the parent.
 *
 * Run by infra/engine as `node supervisor.js DIR JSON`, with an IPC channel. Sends `{ refused: true }` when another engine
 * holds DIR; understands `{ stop: ms }`, the time that Cassandra has to drain.
 */
import { spawn } from 'node:child_process';
import { releaseLock, takeLock, updateLock } from './lock.js';
import { ENDED } from './log.js';

/** Time limit for the drain of Cassandra before it is killed, if the parent sends no limit, in ms. Draining takes about 2.5 s. */
const DRAIN_MS = 7000;

/** @typedef {{ java: string, args: string[], cwd: string }} Command */

const dir = String(process.argv[2]);
const command = /** @type {Command} */ (JSON.parse(String(process.argv[3])));

if (!process.connected) process.exit(0);
if (await takeLock(dir)) keep();
else send({ refused: true }, () => process.exit(0));

function keep() {
  // The supervisor's own output is the log file; Java inherits it.
  const java = spawn(command.java, command.args, {
    cwd: command.cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const holder = { supervisor: process.pid, java: java.pid ?? null, stopping: false };
  updateLock(dir, holder);

  const stop = (drainMs = DRAIN_MS) => {
    if (holder.stopping) return;
    holder.stopping = true;
    updateLock(dir, holder);
    java.kill('SIGTERM');
    setTimeout(() => java.kill('SIGKILL'), drainMs).unref();
  };
  const end = (/** @type {string} */ how) => {
    // A Java process that was killed has not logged its own end.
    if (!holder.stopping) console.error(`${ENDED} ${how}`);
    releaseLock(dir);
    process.exit(0);
  };

  process.on('disconnect', () => stop());
  process.on('message', (/** @type {{ stop: number }} */ message) => stop(message.stop));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop());
  java.once('error', (error) => end(`cannot be run: ${error.message}`));
  java.once('exit', (code, signal) =>
    end(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
  );
  if (!process.connected) stop();
}

/** @param {object} message @param {() => void} [then] */
function send(message, then = () => {}) {
  // A parent that has ended gets nothing. Then `disconnect` follows.
  if (process.connected) process.send?.(message, undefined, undefined, then);
  else then();
}
