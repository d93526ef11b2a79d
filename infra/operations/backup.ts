import { checked, hasSchema } from './backup-age.ts';
import type { Given, Operation } from './flags.ts';
import { here, onNode, type Step } from './plan.ts';
import { awaitDone, managed, sctool } from './steps/manager.ts';
import { medusa, storesTo } from './steps/medusa.ts';

export const backup = {
  help: 'to an object store: every night, or now',
  examples: [
    '--cluster prod --location s3:backups',
    '--engine cassandra --nodes a,b,c --location s3:backups --dry-run',
  ],
  shared: ['engine', 'cluster', 'nodes', 'reach', 'keyspace', 'tag'],
  flags: {
    location: { type: 'text', help: 's3:BUCKET or gcs:BUCKET' },
    cron: { type: 'text', help: 'ScyllaDB: when it is repeated, UTC', fallback: '0 2 * * *' },
    retention: { type: 'integer', help: 'ScyllaDB: backups that are kept', fallback: 7, min: 1 },
    now: {
      type: 'switch',
      help: 'ScyllaDB: one backup at once, and waits for it, instead of one every night',
    },
    check: {
      type: 'switch',
      help: 'makes none, and fails where the last one is older than --within, or lacks the schema',
    },
    within: { type: 'duration', help: 'with --check', fallback: 36 * 3_600_000, min: 3_600_000 },
  },
  plan(given) {
    if (given['check']) return checked(given);
    if (given.engine === 'scylla') return byManager(given);
    return byMedusa(given);
  },
} satisfies Operation;

function byManager(given: Given): Step[] {
  const [cluster, location] = [given.need('cluster'), given.need('location')];
  const where = ['-L', location];
  const kept = ['--retention', String(given.retention)];
  const isReached = here(
    'every node reaches the bucket; how much it would be',
    sctool('backup', '-c', cluster, ...where, '--dry-run'),
  );
  const task = { cluster, type: 'backup' as const };
  if (given.now) {
    const name = `millrace-${given.tag}`;
    return [
      isReached,
      ...managed('a backup, now', { ...task, name, words: [...where, ...kept] }),
      complete(given, name),
      here('the backups that there are', sctool('backup', 'list', '-c', cluster, ...where)),
    ];
  }
  const name = 'millrace-nightly';
  const nightly = ['backup', '-c', cluster, ...where, '--cron', String(given.cron), ...kept];
  return [
    isReached,
    here('plans the backup', sctool(...nightly, '--timezone', 'UTC', '--name', name)),
    here(
      'the first backup, now, so that a failure is seen today',
      sctool('start', '-c', cluster, `backup/${name}`),
    ),
    awaitDone({ ...task, name }),
    complete(given, name),
    here('when it runs next', sctool('tasks', '-c', cluster, '-t', 'backup')),
  ];
}

const complete = (given: Given, name: string) =>
  here(
    'the schema is in it',
    `tag=$(${sctool('progress', '-c', given.need('cluster'), `backup/${name}`)} | sed -n 's/^Snapshot Tag:[[:space:]]*//p')
echo "$tag"
${hasSchema(given)}`,
  );

function byMedusa(given: Given): Step[] {
  const nodes = given.need('nodes');
  const [first] = nodes;
  const named = ['--backup-name', given.tag];
  return [
    ...storesTo(nodes, given.need('location')),
    onNode(
      first,
      'all nodes take a snapshot, then store what is new in it',
      medusa('backup-cluster', ...named, '--mode', 'differential'),
    ),
    onNode(first, 'each file is there with its size', medusa('verify', ...named)),
    ...nodes.map((node) => onNode(node, 'forgets its oldest backups (max_backup_count)', medusa('purge'))),
    onNode(first, 'the backups that there are', medusa('list-backups')),
  ];
}
