import { MillraceError } from '../../common/errors.ts';
import type { Given, Operation } from './flags.ts';
import { here, onNode, type Step } from './plan.ts';
import { byManager } from './restore-managed.ts';
import { medusa, storesTo } from './steps/medusa.ts';
import { repairs } from './steps/repair.ts';
import { command, quote } from './steps/shell.ts';
import { expectAllStopped } from './steps/stopped.ts';

export const restore = {
  help: 'restores a backup: into an empty cluster, or (Cassandra) into a second keyspace, for a drill',
  examples: [
    '--cluster prod --nodes a,b,c --location s3:backups --tag sm_20261121020000UTC --dry-run',
    '--engine cassandra --nodes a,b,c --tag 20261121T0200 --into drill',
  ],
  shared: ['engine', 'cluster', 'nodes', 'reach', 'keyspace', 'tag', 'stop', 'start', 'within'],
  flags: {
    location: {
      type: 'text',
      help: 's3:BUCKET or gcs:BUCKET; Cassandra without it: from snapshots on its own disks',
    },
    into: { type: 'text', help: 'Cassandra, snapshots: another keyspace; default: that of the snapshot' },
    data: {
      type: 'text',
      help: "Cassandra, snapshots: the nodes' data directory",
      fallback: '/var/lib/cassandra/data',
    },
    ledger: { type: 'text', help: 'ledger of a simulator, to compare with sample by sample' },
  },
  async plan(given) {
    given.need('tag');
    refuseElsewhere(given);
    const steps = await brought(given);
    return given.ledger ? [...steps, compared(given, given.ledger)] : steps;
  },
} satisfies Operation;

/** Manager and Medusa can only restore a keyspace under its own name. @throws `usage` */
function refuseElsewhere({ engine, into, location }: Given) {
  if (into === undefined || (engine === 'cassandra' && location === undefined)) return;
  throw new MillraceError(
    'usage',
    '--into is for snapshots of Cassandra: Manager and Medusa restore a keyspace over the one in use. For a drill, restore into another cluster.',
  );
}

const brought = (given: Given) => {
  if (given.engine === 'scylla') return byManager(given);
  return given.location ? byMedusa(given) : fromSnapshots(given);
};

/** Stops all nodes. */
function byMedusa(given: Given): Step[] {
  const nodes = given.need('nodes');
  const [first] = nodes;
  const from = ['--backup-name', given.tag];
  return [
    ...storesTo(nodes, given.need('location')),
    onNode(first, 'each file of the backup is there with its size', medusa('verify', ...from)),
    expectAllStopped(given.keyspace),
    onNode(
      first,
      'all nodes stop, fetch their files, and start',
      medusa(
        'restore-cluster',
        ...from,
        '--seed-target',
        first,
        '--keyspace',
        given.keyspace,
        '--bypass-checks',
        '--verify',
      ),
    ),
    ...repairs(nodes, given.keyspace),
  ];
}

/**
 * Every sample that was acknowledged before the snapshots is in the snapshots of a quorum, so no repair has to follow. Existing rows stay,
 * because samples are only added.
 */
function fromSnapshots(given: Given): Step[] {
  const { tag, keyspace, into = keyspace } = given;
  const folder = `${given['data']}/${keyspace}`;
  const script = `set -e
found=0
for snapshot in ${quote(folder)}/*/snapshots/${quote(tag)}; do
  set -- "$snapshot"/*-Data.db
  test -e "$1" || continue
  table=\${snapshot#${quote(folder)}/}
  table=\${table%%-*}
  echo "$table"
  nodetool import --copy-data ${quote(into)} "$table" "$snapshot"
  found=$((found + 1))
done
if [ "$found" -eq 0 ]; then
  echo ${quote(`No snapshot ${tag} with anything in it is below ${folder}.`)} >&2
  exit 1
fi`;
  return [
    expectAllStopped(into),
    here(
      `the schema of ${into}, where it is not there`,
      `${command(`CQL_KEYSPACE=${into}`)} npm run -s migrate`,
    ),
    ...given.need('nodes').map((node) => onNode(node, `reads its snapshot ${tag}, table by table`, script)),
  ];
}

const compared = ({ keyspace, into = keyspace }: Given, ledger: string): Step =>
  here(
    'what was sent is stored, sample by sample',
    `${command(`CQL_KEYSPACE=${into}`)} ${command('npm', 'run', '-s', 'compare', '--', '--ledger', ledger)}`,
  );
