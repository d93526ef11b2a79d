import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { until } from '../until.ts';

const SOURCES = 'infra/mosquitto';

/**
 * Starts the installed Mosquitto as its container would start it, with the script and the configuration of infra/mosquitto. Only the
 * paths, the ports and (where the test runs as root) the user differ.
 */
export async function prepareBroker({
  directory,
  secrets,
  listeners = 'infra/compose/listeners.conf',
}: {
  /** an empty directory */
  directory: string;
  /** holds the passwords, and `server.pem` with `server.key` for TLS */
  secrets: string;
  /** configuration of its listeners */
  listeners?: string;
}) {
  const port = await steadyPort();
  const tlsPort = await steadyPort();
  const run = join(directory, 'run');
  const data = join(directory, 'data');
  const store = join(data, 'mosquitto.db');
  for (const path of [data, join(directory, 'listeners')]) mkdirSync(path, { recursive: true });
  const adapted = (path: string) =>
    readFileSync(path, 'utf8')
      .replaceAll('/tmp/mosquitto/', `${run}/`)
      .replaceAll('/opt/millrace/', `${directory}/`)
      .replace('/mosquitto/data/', `${data}/`)
      .replace(/^listener 1883.*$/m, `listener ${port} 127.0.0.1`)
      .replace('listener 8883', `listener ${tlsPort} 127.0.0.1`);
  // A broker that root starts changes to the user mosquitto, which cannot read the files of root.
  const asRoot = process.getuid?.() === 0 ? '\nuser root\n' : '';
  writeFileSync(join(directory, 'mosquitto.conf'), adapted(join(SOURCES, 'mosquitto.conf')) + asRoot);
  writeFileSync(join(directory, 'listeners/listeners.conf'), adapted(listeners));
  copyFileSync(join(SOURCES, 'mosquitto.acl'), join(directory, 'mosquitto.acl'));

  let child: ChildProcess | null = null;
  let log = '';

  async function end(signal: NodeJS.Signals) {
    const running = child;
    child = null;
    if (running?.exitCode === null && running.kill(signal)) await once(running, 'exit');
  }

  /** @param programs a directory that comes first in PATH */
  function spawnBroker(programs: string = '') {
    const started = spawn('/bin/sh', [join(SOURCES, 'start.sh')], {
      env: {
        // Debian keeps the broker out of the PATH of ordinary users.
        PATH: `${programs}:${process.env['PATH']}:/usr/sbin`,
        SECRETS: secrets,
        TLS_CERTIFICATE: join(secrets, 'server.pem'),
        TLS_KEY: join(secrets, 'server.key'),
        CONFIGURATION: directory,
        RUN_DIRECTORY: run,
        LOOK_EVERY_SECONDS: '1',
      },
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (log += chunk));
    return started;
  }

  return {
    port,
    tlsPort,
    saved: (): Buffer => (existsSync(store) ? readFileSync(store) : Buffer.alloc(0)),
    log: () => log,
    spawn: spawnBroker,
    async start() {
      const started = spawnBroker();
      const hasStarted = async () => started.exitCode !== null || (await answers(port));
      await until(hasStarted, { what: 'an answer of Mosquitto' });
      if (started.exitCode !== null) throw new Error(`Mosquitto did not start:\n${log}`);
    },
    /** Stops the broker as `docker compose stop` does. The broker writes its store. */
    stop: () => end('SIGTERM'),
    /** Kills the broker, as a power failure does. The broker writes nothing more. */
    kill: () => end('SIGKILL'),
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false; // The broker does not listen yet.
  } finally {
    socket.destroy();
  }
}
