import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MillraceError } from '../../../common/errors.ts';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { persistentOn } from '../../../tools/bench/environment/broker.ts';

// Debian keeps the broker out of the PATH of ordinary users.
const env = { PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` };

/** Starts a real Mosquitto on a free loopback port. It can be stopped and started again, and keeps its queues. */
export async function startMosquitto({
  users,
  acl,
  tls,
  files,
}: {
  /** names and passwords; default: anonymous clients are accepted */
  users?: Record<string, string>;
  /** paths; default: without TLS */
  tls?: { cert: string; key: string };
  /** lines of an `acl_file`; default: no restrictions */
  acl?: string[];
  /** a directory with `passwords` and `acl`, as `npm run credentials -- mosquitto` writes them */
  files?: string;
} = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-mosquitto-'));
  const port = await steadyPort();
  const passwords = join(files ?? directory, 'passwords');
  for (const [index, [name, password]] of Object.entries(users ?? {}).entries()) {
    const create = index === 0 ? ['-c'] : [];
    execFileSync('mosquitto_passwd', ['-b', ...create, passwords, name, password], { env });
  }
  const aclFile = join(files ?? directory, 'acl');
  if (acl) writeFileSync(aclFile, `${acl.join('\n')}\n`);
  const configuration = join(directory, 'mosquitto.conf');
  const lines = [
    ...persistentOn(port, directory),
    ...(tls ? [`certfile ${tls.cert}`, `keyfile ${tls.key}`] : []),
    ...(users || files ? ['allow_anonymous false', `password_file ${passwords}`] : ['allow_anonymous true']),
    ...(acl || files ? [`acl_file ${aclFile}`] : []),
    '',
  ];
  writeFileSync(configuration, lines.join('\n'));
  const broker = createMosquitto('mosquitto', configuration, { env });
  await broker.start();
  return {
    ...broker,
    url: `${tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`,
    reload: () => broker.signal('SIGHUP'),
    /** Pauses it: it stays connected and silent, as a machine that hangs. */
    pause: () => broker.signal('SIGSTOP'),
    resume: () => broker.signal('SIGCONT'),
    async remove() {
      broker.signal('SIGCONT');
      await broker.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type Mosquitto = Awaited<ReturnType<typeof startMosquitto>>;

/** Mosquitto may miss a signal that arrives before its main loop runs. */
const REMIND_MS = 200;

function createMosquitto(command: string, configuration: string, options: SpawnOptions) {
  let child: ChildProcess | null = null;

  async function end(signal: NodeJS.Signals) {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    const reminder = setInterval(() => running.kill(signal), REMIND_MS);
    await exited;
    clearInterval(reminder);
  }

  return {
    /** @returns pid, once it listens @throws {MillraceError} `failed`, with the output of Mosquitto, when Mosquitto ends instead */
    async start(): Promise<number> {
      const started = spawn(command, ['-c', configuration], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let log = '';
      await new Promise((resolve, reject) => {
        started.once('error', reject);
        started.once('exit', () => reject(new MillraceError('failed', `Mosquitto ended:\n${log}`)));
        started.stderr?.on('data', (chunk) => {
          if (log.length < 10_000) log += chunk;
          if (log.includes(' running')) resolve(undefined);
        });
      });
      child = started;
      return Number(started.pid);
    },

    stop: () => end('SIGTERM'),

    /** Messages since Mosquitto last wrote its queues are lost. */
    kill: () => end('SIGKILL'),

    signal: (name: NodeJS.Signals) => child?.kill(name),
  };
}
