import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * smoke.sh where it finds the secrets of a test, and a `docker` that reaches the broker of it. No container engine runs here.
 *
 * @param {object} parts
 * @param {string} parts.home a directory to be made
 * @param {string} parts.secrets the directory that init.sh wrote
 * @param {{ run: string, port: number }} parts.broker the run directory of its start script, and where it listens
 * @returns {{ script: string, programs: string }} paths; `programs` is to be first in PATH
 */
export function prepareSmoke({ home, secrets, broker }) {
  for (const name of ['smoke.sh', 'init.sh']) {
    cpSync(`infra/compose/${name}`, join(home, 'infra/compose', name));
  }
  cpSync(secrets, join(home, 'infra/compose/secrets'), { recursive: true });
  // Behind `docker compose exec -T mosquitto env XDG_CONFIG_HOME=…` stands the command.
  const docker = `#!/bin/sh
case "$*" in
  *mosquitto_pub*) shift 6 && XDG_CONFIG_HOME='${broker.run}' exec "$@" -h 127.0.0.1 -p ${broker.port} ;;
  *commitlog_sync*) echo '"batch"' ;;
esac
`;
  const programs = join(home, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'docker'), docker, { mode: 0o755 });
  return { script: join(home, 'infra/compose/smoke.sh'), programs };
}
