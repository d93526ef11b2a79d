/**
 * Runs one server, such as Cassandra, in a separate process group, and ends the server when the parent asks for it or dies.
 *
 * Ctrl-C in a terminal reaches the whole foreground process group. The server must not be in this group, because the API would lose its
 * database while it drains. But a process outside the group survives its parent. So this supervisor watches the parent.
 *
 * infra/engine runs it as `node supervisor.ts DIR JSON`, with an IPC channel. It sends `{ refused: true }` when another server uses DIR.
 * It accepts `{ stop: ms }`, where `ms` is the time limit for the drain.
 */
import { spawn } from 'node:child_process';
import { releaseLock, takeLock, updateLock } from './lock.ts';
import { ENDED } from './log.ts';

/** Time limit for the drain of Cassandra before it is killed, if the parent sends no limit, in ms. Draining takes about 2.5 s. */
const DRAIN_MS = 7000;

type Command = { java: string; args: string[]; cwd: string };

const dir = String(process.argv[2]);
const command = JSON.parse(String(process.argv[3])) as Command;

if (!process.connected) process.exit(0);
if (await takeLock(dir)) keep();
else send({ refused: true }, () => process.exit(0));

function keep() {
  // The output of the supervisor goes to the log file. Java inherits it.
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
  const end = (how: string) => {
    // The supervisor logs the end of the server, because a killed Java process logs nothing.
    if (!holder.stopping) console.error(`${ENDED} ${how}`);
    releaseLock(dir);
    process.exit(0);
  };

  process.on('disconnect', () => stop());
  process.on('message', (message: { stop: number }) => stop(message.stop));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop());
  java.once('error', (error) => end(`cannot be run: ${error.message}`));
  java.once('exit', (code, signal) =>
    end(signal ? `was ended by ${signal}` : `ended with exit code ${code}`),
  );
  if (!process.connected) stop();
}

function send(message: object, then: () => void = () => {}) {
  // If the parent has ended, nothing is sent. The event `disconnect` follows.
  if (process.connected) process.send?.(message, undefined, undefined, then);
  else then();
}
