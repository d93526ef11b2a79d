import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writePrograms } from '../processes/programs.ts';

const LATE_MS = 120_000;

/** Secrets in the environment of the operator, which must not be in any output. */
export const SECRETS = {
  CQL_USERNAME: 'cassandra',
  CQL_PASSWORD: 'secret-of-the-database',
  MQTT_PASSWORD: 'secret-of-the-broker',
  API_TOKEN: 'secret-of-the-api',
};

const NOTE = 'printf "%s\\n" "$(basename "$0") $*" >>"$FAKES/log"';

/**
 * Fake programs: they record their calls, and print the state that an operation waits for. test/cluster runs the operations
 * against Cassandra.
 */
const PROGRAMS = {
  ssh: `${NOTE}; node=$1 sh -c "$2"`,
  nodetool: `${NOTE}
case $1 in
  status) cat "$FAKES/status" ;;
  info) printf 'ID : id-%s\nNative Transport active: true\n' "$node" ;;
  getendpoints) head -n "$COPIES" "$FAKES/addresses" ;;
  version) echo "ReleaseVersion: $RUNNING" ;;
  describecluster) printf '\tSchema versions:\n%bStats for all nodes:\n\tLive: 3\nDatabase versions:\n\t5.0.9: [10.0.0.1]\n' "$SCHEMAS" ;;
  decommission | removenode) sed -i '$d' "$FAKES/status" ;;
esac`,
  sudo: `${NOTE}
case $node-$2 in new-start) echo 'UN  10.0.0.9 1 GB id-new rack4' >>"$FAKES/status" ;; esac`,
  docker: `${NOTE}
case $2 in exec) node=$4 sh -c "$7" ;; esac`,
  sctool: `${NOTE}
case "$1 $2" in
  progress*) printf 'Status:\\t\\t%s\\nSnapshot Tag:\\tsm_20261122020000UTC\\n' "$TASK_STATUS" ;;
  'backup list') printf 'Snapshots:\\n  - sm_20240229020000UTC (1GiB, 3 nodes)\\n  - sm_%sUTC (1GiB, 3 nodes)\\n' "$BACKUP_AT" ;;
  'backup files') printf 's3://bucket/backup/schema/cluster/c/%s \\t ./\\n' "$BACKUP_SCHEMA" ;;
esac`,
  npm: NOTE,
  node: NOTE,
  curl: `${NOTE}; echo "\\"$RUNNING\\""`,
  medusa: `${NOTE}
case $1 in
  report-last-backup) printf '[1] INFO: - Finished: %s seconds ago\\n[1] INFO: - Finished: True\\n' "$BACKUP_AGE" >&2 ;;
esac`,
};

/** @param directory for the fakes */
export function makeFakes(
  directory: string,
  {
    nodes = 3,
    taskStatus = 'DONE',
    backup = {},
    running = '',
    schemas = ['86afa796: [10.0.0.1, 10.0.0.2]', 'UNREACHABLE: [10.0.0.9]'],
    copies = 2,
    racks = ['rack1', 'rack2', 'rack3'],
  }: {
    /** number of nodes that are up */
    nodes?: number;
    /** final status of Manager's tasks */
    taskStatus?: string;
    /** the last backup */
    backup?: { ageS?: number; schema?: string };
    /** the version that a node reports */
    running?: string;
    /** as `nodetool describecluster` prints them */
    schemas?: string[];
    /** replicas of each row */
    copies?: number;
    /** of the nodes a, b, c, in turn */
    racks?: string[];
  } = {},
) {
  const { ageS = 7200, schema = 'task_t_tag_sm_schema_with_internals.json.gz' } = backup;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, 'bin'), { recursive: true });
  writePrograms(join(directory, 'bin'), PROGRAMS);
  writeFileSync(join(directory, 'log'), '');
  const all = ['a', 'b', 'c', 'd'].slice(0, nodes).map((name, i) => ({ name, address: `10.0.0.${i + 1}` }));
  const rows = all.map(({ name, address }, i) => `UN  ${address}  1 GB  ?  id-${name}  ${racks[i]}\n`);
  writeFileSync(join(directory, 'status'), `Datacenter: dc1\n===\n--  Address\n${rows.join('')}`);
  writeFileSync(join(directory, 'addresses'), all.map(({ address }) => `${address}\n`).join(''));
  const config = join(directory, 'node.yaml');
  writeFileSync(
    config,
    'listen_address: 10.0.0.9\nseed_provider:\n  - parameters:\n    - seeds: "10.0.0.1,10.0.0.3"\n',
  );
  const env = {
    ...SECRETS,
    FAKES: resolve(directory),
    TASK_STATUS: taskStatus,
    BACKUP_AGE: String(ageS),
    BACKUP_AT: new Date(Date.now() - ageS * 1000).toISOString().slice(0, 19).replaceAll(/\D/g, ''),
    BACKUP_SCHEMA: schema,
    COPIES: String(copies),
    RUNNING: running,
    SCHEMAS: schemas.map((text) => `\t\t${text}\\n\\n`).join(''),
    PATH: `${resolve(directory, 'bin')}:${process.env['PATH']}`,
  };
  return {
    env,
    config,
    /** @returns the calls since the last time, in order */
    called(): string[] {
      const lines = readFileSync(join(directory, 'log'), 'utf8').split('\n').filter(Boolean);
      writeFileSync(join(directory, 'log'), '');
      return lines;
    },
  };
}

export const operate = (
  words: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: number; out: string; errors: string }> =>
  run(process.execPath, ['infra/operations/index.ts', ...words], env);

/** @param withinMs after this time it is killed */
export async function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  withinMs: number = LATE_MS,
) {
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  // A program that does not end is killed together with the shells that it has started.
  const late = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), withinMs);
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const [code] = await once(child, 'close');
  clearTimeout(late);
  return { code, out, errors };
}
