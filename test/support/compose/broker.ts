import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { until } from '../until.ts';

const COMPOSE = 'infra/compose';

/**
 * Starts the installed Mosquitto as its container would start it, with the script and the configuration of infra/compose. Only the
 * paths, the ports and (where the test runs as root) the user differ.
 * @param options an empty directory, and that of the secrets
 */
export async function prepareBroker({ directory, secrets }: { directory: string; secrets: string }) {
  const port = await steadyPort();
  const tlsPort = await steadyPort();
  const run = join(directory, 'run');
  const data = join(directory, 'data');
  const store = join(data, 'mosquitto.db');
  mkdirSync(data, { recursive: true });
  const configuration = readFileSync(join(COMPOSE, 'mosquitto.conf'), 'utf8')
    .replaceAll('/tmp/mosquitto/', `${run}/`)
    .replace('/mosquitto/data/', `${data}/`)
    .replace('listener 1883', `listener ${port} 127.0.0.1`)
    .replace('listener 8883', `listener ${tlsPort} 127.0.0.1`);
  // A broker that root starts changes to the user mosquitto, which cannot read the files of root.
  const asRoot = process.getuid?.() === 0 ? '\nuser root\n' : '';
  writeFileSync(join(directory, 'mosquitto.conf'), configuration + asRoot);
  copyFileSync(join(COMPOSE, 'mosquitto.acl'), join(directory, 'mosquitto.acl'));

  const environment = {
    // Debian keeps the broker out of the PATH of ordinary users.
    PATH: `${process.env['PATH']}:/usr/sbin`,
    SECRETS: secrets,
    TLS_CERTIFICATE: join(secrets, 'server.pem'),
    TLS_KEY: join(secrets, 'server.key'),
    CONFIGURATION: directory,
    RUN_DIRECTORY: run,
  };
  let child: ChildProcess | null = null;
  let log = '';

  async function end(signal: NodeJS.Signals) {
    const running = child;
    child = null;
    if (running?.exitCode === null && running.kill(signal)) await once(running, 'exit');
  }

  return {
    port,
    tlsPort,
    /** @returns the sessions, queues and messages on disk */
    saved: (): Buffer => (existsSync(store) ? readFileSync(store) : Buffer.alloc(0)),
    log: () => log,
    async start() {
      const started = spawn('/bin/sh', [join(COMPOSE, 'mosquitto-start.sh')], { env: environment });
      child = started;
      for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (log += chunk));
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
