import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Lines of `docker compose ps` for healthy containers: service, state, health, exit code. */
const HEALTHY = [
  'scylla running healthy 0',
  'roles exited  0',
  'migrate exited  0',
  'api running healthy 0',
  'simulator running  0',
];

/**
 * Copies smoke.sh to a folder with the secrets of a test, and makes a `docker` that reaches its broker. No container engine runs.
 * @returns paths; `programs` must be first in PATH
 */
export function prepareSmoke({
  home,
  secrets,
  broker,
}: {
  /** a directory that it makes */
  home: string;
  /** the directory that init.sh wrote */
  secrets: string;
  /** the run directory of its start script, and its port */
  broker: { run: string; port: number };
}): { script: string; programs: string } {
  for (const name of ['smoke.sh', 'init.sh']) {
    cpSync(`infra/compose/${name}`, join(home, 'infra/compose', name));
  }
  cpSync(secrets, join(home, 'infra/compose/secrets'), { recursive: true });
  // The command follows `docker compose exec -T mosquitto env XDG_CONFIG_HOME=…`.
  const publish = `shift 6 && XDG_CONFIG_HOME='${broker.run}' exec "$@" -h 127.0.0.1 -p ${broker.port}`;
  const lines = (texts: string[]) => `printf '%s\\n' ${texts.map((text) => `'${text}'`).join(' ')}`;
  const docker = `#!/bin/sh
case "$*" in
  *mosquitto_pub*) ${publish} ;;
  *'config --services') ${lines(HEALTHY.map((line) => line.replace(/ .*/, '')))} ;;
  *'ps --all'*) ${lines(HEALTHY)} ;;
  *commitlog_sync*) echo '"batch"' ;;
esac
`;
  const programs = join(home, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'docker'), docker, { mode: 0o755 });
  return { script: join(home, 'infra/compose/smoke.sh'), programs };
}
