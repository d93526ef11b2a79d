import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { steadyPort } from '../../../infra/engine/ports.ts';
import { KUBERNETES } from './build.ts';

const COMPONENTS = `${KUBERNETES}/components`;

/**
 * Starts the installed Mosquitto as its pod would start it. Only the paths, the ports and (where the test runs as root) the user
 * differ. Its passwords are `application` and `devices`.
 * @param directory an empty directory
 * @param component whose listener it uses
 */
export async function prepareBroker(directory: string, component: 'mosquitto' | 'mosquitto-tls') {
  const port = await steadyPort();
  const inside = await steadyPort();
  const configuration = join(directory, 'configuration');
  const secrets = join(directory, 'secrets');
  const certificates = join(directory, 'tls');
  for (const path of [join(configuration, 'listeners'), secrets, certificates, join(directory, 'data')])
    mkdirSync(path, { recursive: true });
  const adapted = (path: string) =>
    readFileSync(join(COMPONENTS, path), 'utf8')
      .replaceAll('/opt/millrace/', `${configuration}/`)
      .replaceAll('/etc/millrace/tls/', `${certificates}/`)
      .replaceAll('/tmp/mosquitto/', `${directory}/run/`)
      .replaceAll('/mosquitto/data/', `${directory}/data/`)
      .replace(/^listener 8883$/m, `listener ${port} 127.0.0.1`)
      .replace(/^listener 1883$/m, `listener ${port} 127.0.0.1`)
      .replace('listener 1883 127.0.0.1', `listener ${inside} 127.0.0.1`);
  // A broker that root starts changes to the user mosquitto, which cannot read the files of root.
  const asRoot = process.getuid?.() === 0 ? '\nuser root\n' : '';
  writeFileSync(join(configuration, 'mosquitto.conf'), adapted('mosquitto/mosquitto.conf') + asRoot);
  writeFileSync(join(configuration, 'listeners/listener.conf'), adapted(`${component}/listener.conf`));
  copyFileSync(join(COMPONENTS, 'mosquitto/mosquitto.acl'), join(configuration, 'mosquitto.acl'));
  writeFileSync(join(secrets, 'mqtt_password'), 'application');
  writeFileSync(join(secrets, 'mqtt_device_password'), 'devices');

  let child: ChildProcess | null = null;
  let output = '';
  return {
    port,
    secrets,
    certificates,
    /** @returns the standard error of start.sh so far */
    output: (): string => output,
    /** @param programs a directory that comes first in PATH */
    start(programs: string = '') {
      child = spawn('/bin/sh', [join(COMPONENTS, 'mosquitto/start.sh')], {
        env: {
          // Debian keeps the broker out of the PATH of ordinary users.
          PATH: `${programs}:${process.env['PATH']}:/usr/sbin`,
          SECRETS: secrets,
          CONFIGURATION: configuration,
          CERTIFICATES: certificates,
          RUN_DIRECTORY: join(directory, 'run'),
          LOOK_EVERY_SECONDS: '1',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr?.on('data', (chunk) => {
        output += chunk;
      });
      return child;
    },
    async stop() {
      if (child && child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    },
  };
}
