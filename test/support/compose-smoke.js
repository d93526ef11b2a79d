import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What `docker compose ps` says of containers that are well: service, state, health, exit code. */
export const WELL = [
  'scylla running healthy 0',
  'roles exited  0',
  'migrate exited  0',
  'api running healthy 0',
  'simulator running  0',
];

/**
 * smoke.sh where it finds the secrets of a test, and a `docker` that reaches the broker of it. No container engine runs here.
 *
 * @param {object} parts
 * @param {string} parts.home a directory to be made
 * @param {string} parts.secrets the directory that init.sh wrote
 * @param {{ run: string, port: number }} [parts.broker] the run directory of its start script, and where it listens; none:
 *   nobody takes a measurement
 * @param {string[]} [parts.containers] how they are
 * @returns {{ script: string, programs: string }} paths; `programs` is to be first in PATH
 */
export function prepareSmoke({ home, secrets, broker, containers = WELL }) {
  for (const name of ['smoke.sh', 'init.sh']) {
    cpSync(`infra/compose/${name}`, join(home, 'infra/compose', name));
  }
  cpSync(secrets, join(home, 'infra/compose/secrets'), { recursive: true });
  // Behind `docker compose exec -T mosquitto env XDG_CONFIG_HOME=…` stands the command.
  const publish = broker
    ? `shift 6 && XDG_CONFIG_HOME='${broker.run}' exec "$@" -h 127.0.0.1 -p ${broker.port}`
    : 'exit 1';
  const lines = (/** @type {string[]} */ texts) =>
    `printf '%s\\n' ${texts.map((text) => `'${text}'`).join(' ')}`;
  const docker = `#!/bin/sh
case "$*" in
  *mosquitto_pub*) ${publish} ;;
  *'config --services') ${lines(WELL.map((line) => line.replace(/ .*/, '')))} ;;
  *'ps --all'*) ${lines(containers)} ;;
  *commitlog_sync*) echo '"batch"' ;;
esac
`;
  const programs = join(home, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'docker'), docker, { mode: 0o755 });
  // Where nobody answers there is nothing to wait for.
  if (!broker) writeFileSync(join(programs, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
  return { script: join(home, 'infra/compose/smoke.sh'), programs };
}
