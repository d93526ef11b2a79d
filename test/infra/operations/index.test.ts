import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { useDirectory } from '../../support/directory.ts';
import { makeFakes, operate, run, SECRETS } from '../../support/operations/fakes.ts';

// Checks that operations print the expected commands, and run what they print. test/cluster runs them against Cassandra.

const directory = useDirectory('operations');

const NODES = '--nodes a,b,c';
const MANAGED = '--cluster prod --location s3:bucket --tag t1';
const CASSANDRA = `--engine cassandra ${NODES} --tag t1`;

const APT = 'sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Options::=--force-confold';

const medusaStoresTo = (provider: string) =>
  `grep -qx "storage_provider *= *${provider}" /etc/medusa/medusa.ini && grep -qx "bucket_name *= *bucket" /etc/medusa/medusa.ini`;

/** Each operation on each engine, with its characteristic commands in their order. */
const OPERATIONS = [
  [
    `backup ${MANAGED}`,
    [
      'sctool backup -c prod -L s3:bucket --dry-run',
      "sctool backup -c prod -L s3:bucket --cron '0 2 * * *' --retention 7 --timezone UTC --name millrace-nightly",
      'sctool start -c prod backup/millrace-nightly',
      'said=$(sctool progress -c prod backup/millrace-nightly)',
      "tag=$(sctool progress -c prod backup/millrace-nightly | sed -n 's/^Snapshot Tag:[[:space:]]*//p')",
      'sctool tasks -c prod -t backup',
    ],
  ],
  [`backup ${MANAGED} --check`, ['since=$(date -u -d "@$(($(date +%s) - 129600))" +%Y%m%d%H%M%S)']],
  [
    'backup --cluster prod --location gcs:bucket --tag t1 --now --retention 3',
    [
      'sctool backup -c prod -L gcs:bucket --retention 3 --name millrace-t1',
      'said=$(sctool progress -c prod backup/millrace-t1)',
      'sctool backup list -c prod -L gcs:bucket',
    ],
  ],
  [
    `restore ${MANAGED} ${NODES}`,
    [
      'sctool restore -c prod -L s3:bucket -T t1 --restore-schema --dry-run',
      'CQL_KEYSPACE=iot node infra/operations/steps/expect-stopped.ts',
      'sctool restore -c prod -L s3:bucket -T t1 --restore-schema --name millrace-schema-t1',
      'said=$(sctool progress -c prod restore/millrace-schema-t1)',
      "ssh a 'nodetool drain'",
      "ssh a 'sudo systemctl stop scylla-server'",
      "ssh c 'sudo systemctl start scylla-server'",
      'sctool restore -c prod -L s3:bucket -T t1 --restore-tables -K iot --name millrace-tables-t1',
      'said=$(sctool progress -c prod restore/millrace-tables-t1)',
      'sctool repair -c prod -K iot --name millrace-restored-t1',
    ],
  ],
  [
    'remove-node --cluster prod --nodes a,b --tag t1 --dead id-c',
    ["ssh a 'nodetool removenode id-c'", 'sctool repair -c prod -K iot --name millrace-t1'],
  ],
  [
    `upgrade --cluster prod ${NODES} --to 2026.1.6`,
    [
      `sudo apt-get update && ${APT} --download-only install "scylla=2026.1.6-*"'`,
      'sctool suspend -c prod',
      "ssh a 'nodetool snapshot -t before-2026.1.6 iot'",
      "ssh a 'nodetool drain'",
      "ssh a 'sudo systemctl stop scylla-server'",
      `ssh a '${APT} install "scylla=2026.1.6-*"'`,
      "ssh a 'sudo systemctl start scylla-server'",
      'ssh a \'said=$(curl -fsS http://localhost:10000/storage_service/scylla_release_version | tr -d "\\"")',
      "ssh b 'nodetool snapshot -t before-2026.1.6 iot'",
      'sctool resume -c prod --start-tasks',
    ],
  ],
  [
    `add-node ${NODES} --node new --config CONFIG`,
    ["ssh new 'sudo systemctl start scylla-server'", "ssh a 'nodetool cluster cleanup'"],
  ],
  [
    'remove-node --nodes a,b --node c',
    [
      'ssh c \'id=$(nodetool info | sed -n "s/^ID *: *//p")',
      "{ nodetool getendpoints iot installation any; nodetool status; } | awk -v id=\"$id\" '\\''",
      "ssh c 'nodetool decommission'",
      "ssh c 'sudo systemctl stop scylla-server'",
    ],
  ],
  [
    `backup ${CASSANDRA} --location s3:bucket`,
    [
      `ssh a '${medusaStoresTo('s3.*')}'`,
      "ssh a 'medusa backup-cluster --backup-name t1 --mode differential'",
      "ssh a 'medusa verify --backup-name t1'",
      "ssh c 'medusa purge'",
    ],
  ],
  [
    `backup ${CASSANDRA} --location s3:bucket --check --within 30h`,
    [
      `ssh a '${medusaStoresTo('s3.*')}'`,
      "ssh a 'age=$(medusa report-last-backup 2>&1 | sed -n '\\''s/.*- Finished: \\([0-9][0-9]*\\) seconds ago.*/\\1/p'\\'')",
    ],
  ],
  [`backup ${CASSANDRA} --location gcs:bucket`, [`ssh c '${medusaStoresTo('google_storage')}'`]],
  [
    `restore ${CASSANDRA} --location gcs:bucket`,
    [
      "ssh a 'medusa verify --backup-name t1'",
      'CQL_KEYSPACE=iot node infra/operations/steps/expect-stopped.ts',
      "ssh a 'medusa restore-cluster --backup-name t1 --seed-target a --keyspace iot --bypass-checks --verify'",
      "ssh a 'nodetool repair --full --partitioner-range iot'",
    ],
  ],
  [
    `restore ${CASSANDRA} --into iot_drill --ledger load.ledger`,
    [
      'CQL_KEYSPACE=iot_drill node infra/operations/steps/expect-stopped.ts',
      'CQL_KEYSPACE=iot_drill npm run -s migrate',
      'for snapshot in /var/lib/cassandra/data/iot/*/snapshots/t1; do',
      '  nodetool import --copy-data iot_drill "$table" "$snapshot"',
      'CQL_KEYSPACE=iot_drill npm run -s compare -- --ledger load.ledger',
    ],
  ],
  [
    `upgrade --engine cassandra ${NODES} --to 5.0.10 --rewrite-sstables`,
    [
      `sudo apt-get update && ${APT} --download-only install "cassandra=5.0.10"'`,
      "ssh a 'nodetool drain'",
      `ssh a '${APT} install "cassandra=5.0.10"'`,
      'ssh a \'said=$(nodetool version | sed -n "s/^ReleaseVersion: *//p")',
      "ssh c 'nodetool upgradesstables iot'",
    ],
  ],
  [
    `add-node --engine cassandra ${NODES} --node new --config CONFIG`,
    [
      "ssh new 'sudo systemctl start cassandra'",
      "ssh a 'nodetool cleanup iot'",
      "ssh c 'nodetool cleanup iot'",
    ],
  ],
  [
    'remove-node --engine cassandra --nodes a,b --tag t1 --dead id-c',
    [
      "ssh a 'id=id-c",
      "ssh a 'nodetool removenode id-c'",
      "ssh b 'nodetool repair --full --partitioner-range iot'",
    ],
  ],
  [
    'rotate --secret serve --file keys/serve --migrate-file keys/migrate --deliver hand-on --nodes host-1,host-2',
    [
      '(umask 077 && openssl rand -hex 24 >keys/serve.new)',
      'npm run -s roles -- --migrate-password-file keys/migrate --serve-password-file keys/serve.new',
      "until CQL_PASSWORD='' CQL_USERNAME=millrace_serve CQL_PASSWORD_FILE=keys/serve.new node infra/operations/steps/alter.ts; do",
      'test -s keys/serve.new && cat keys/serve.new >keys/serve && rm keys/serve.new',
      'hand-on',
      "ssh host-1 'sudo systemctl restart millrace'",
      'until curl -fsS -o /dev/null http://127.0.0.1:8080/readyz; do',
      "ssh host-2 'sudo systemctl restart millrace'",
    ],
  ],
  [
    'rotate --secret migrate --file keys/migrate --serve-file keys/serve',
    [
      'npm run -s roles -- --serve-password-file keys/serve --migrate-password-file keys/migrate.new',
      'test -s keys/migrate.new && cat keys/migrate.new >keys/migrate && rm keys/migrate.new',
    ],
  ],
  [
    'rotate --secret broker --file keys/mqtt --reload update-broker --deliver hand-on --nodes host-1',
    [
      'test -s keys/mqtt.new && cat keys/mqtt.new >keys/mqtt && rm keys/mqtt.new',
      'update-broker',
      'hand-on',
      "ssh host-1 'sudo systemctl restart millrace'",
    ],
  ],
  [
    'rotate --secret devices --devices pump,gw-7 --file new --broker etc --nodes broker',
    [
      'npm run -s credentials -- rotate pump gw-7 --file new',
      'npm run -s credentials -- mosquitto --out etc',
      "ssh broker 'sudo systemctl reload mosquitto'",
    ],
  ],
] as Array<[string, string[]]>;

describe.each(OPERATIONS)('Operations: %s --dry-run', (words, expected) => {
  test('npm run operations: --dry-run: prints the commands in order, as a valid shell script without secrets', async () => {
    const { env } = makeFakes(join(directory, 'printed'));
    const { code, out } = await operate([...words.split(/ +/), '--dry-run'], env);
    expect(code).toBe(0);
    const lines = out.split('\n').map((line) => line.trim());
    const found = expected.map((line) => lines.indexOf(line.trim()));
    expect(expected.filter((_, index) => found[index] === -1)).toEqual([]);
    expect(found).toEqual([...found].sort((a, b) => a - b));
    for (const secret of Object.values(SECRETS).slice(1)) expect(out).not.toContain(secret);
    const script = join(directory, 'printed', 'script.sh');
    writeFileSync(script, out);
    expect(await run('shellcheck', ['--severity', 'warning', script], process.env)).toMatchObject({
      code: 0,
      out: '',
    });
  });
});

/** Operations whose programs all have fakes, and that do not depend on the time. */
const RUNNABLE = OPERATIONS.map(([words]) => words).filter(
  (words) => !/--check|cassandra.*location|^rotate --secret (serve|migrate|broker)/.test(words),
);

/** A node's data directory with something in its snapshot `t1`. */
function dataWithSnapshot(): string {
  const data = join(directory, 'data');
  const snapshot = join(data, 'iot', 'device-0123', 'snapshots', 't1');
  mkdirSync(snapshot, { recursive: true });
  writeFileSync(join(snapshot, 'nb-1-big-Data.db'), '');
  return data;
}

test.each(RUNNABLE)('npm run operations %s: runs exactly the commands of --dry-run', async (text) => {
  const running = text.match(/--to (\S+)/)?.[1];
  const fakes = makeFakes(join(directory, 'run'), { running });
  const words = text.replace('CONFIG', fakes.config).split(/ +/);
  if (text.startsWith('restore --engine cassandra')) words.push('--data', dataWithSnapshot());
  const printed = await operate([...words, '--dry-run'], fakes.env);
  expect(fakes.called()).toEqual([]);
  const ran = await operate(words, fakes.env);
  expect(ran).toMatchObject({ code: 0, out: '' });
  const called = fakes.called();
  expect(called.length).toBeGreaterThan(0);

  const again = makeFakes(join(directory, 'run'), { running });
  writeFileSync(join(directory, 'plan.sh'), printed.out);
  expect(await run('sh', [join(directory, 'plan.sh')], again.env)).toMatchObject({ code: 0 });
  expect(again.called()).toEqual(called);
});

test('npm run operations: --from is greater than the number of steps: a usage error, and no command runs', async () => {
  const fakes = makeFakes(join(directory, 'behind'));
  const { code, errors } = await operate(
    'backup --cluster prod --location s3:b --check --from 99'.split(' '),
    fakes.env,
  );
  expect(code).toBe(2);
  expect(errors).toContain('--from 99');
  expect(fakes.called()).toEqual([]);
});

test('npm run operations restore: the snapshot does not exist: an error, and no table is imported', async () => {
  const fakes = makeFakes(join(directory, 'nowhere'));
  const words = `restore --engine cassandra ${NODES} --tag none --data ${join(directory, 'empty')}`.split(
    ' ',
  );
  const { code, errors } = await operate(words, fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain('Step 3/');
  expect(fakes.called().filter((line) => line.startsWith('nodetool import'))).toEqual([]);
});

test('npm run operations restore: a task of Scylla Manager fails: the operation stops before it restores tables', async () => {
  const fakes = makeFakes(join(directory, 'failed'), { taskStatus: 'ERROR' });
  const { code, errors } = await operate(`restore ${MANAGED} ${NODES}`.split(' '), fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain('Step 4/');
  expect(fakes.called().join('\n')).not.toContain('restore-tables');
});

describe('Last backup', () => {
  const HOUR_S = 3600;

  test.each([
    ['recent enough: exit code 0', '--check', {}, 0],
    ['too old: exit code 1', '--check', { ageS: 37 * HOUR_S }, 1],
    ['older than --within: exit code 1', '--check --within 1h', {}, 1],
    ['without the schema: exit code 1', '--check', { schema: 'other' }, 1],
    ['without the schema, with --now: exit code 1', '--now', { schema: 'other' }, 1],
    ['without the schema, at the start of the schedule: exit code 1', '', { schema: 'other' }, 1],
  ] as Array<[string, string, { ageS?: number; schema?: string }, number]>)(
    'npm run operations backup: backup of Scylla Manager is %s',
    async (_, words, backup, code) => {
      const { env } = makeFakes(join(directory, 'checked'), { backup });
      const ran = await operate(`backup ${MANAGED} ${words}`.trim().split(' '), env);
      expect(ran).toMatchObject({ code });
      if (backup.schema) expect(ran.errors).toContain('There is no schema in it');
      else expect(ran.errors.includes('too old')).toBe(code === 1);
    },
  );

  test.each([
    [2 * HOUR_S, 0],
    [37 * HOUR_S, 1],
    ['', 1],
  ])('npm run operations backup --check: backup of Medusa is %p s old: exit code %p', async (ageS, code) => {
    const { env } = makeFakes(join(directory, 'checked'), { backup: { ageS: ageS as number } });
    const words = 'backup --engine cassandra --nodes a --location s3:bucket --check --from 2'.split(' ');
    expect(await operate(words, env)).toMatchObject({ code });
  });
});

test('npm run operations restore: last step with Scylla Manager: sets tombstone_gc of each table to the value of the schema', async () => {
  const { out } = await operate(
    `restore ${MANAGED} ${NODES} --dry-run`.split(' '),
    makeFakes(join(directory, 'collected')).env,
  );
  const [last] = out.trim().split('\n').slice(-1);
  expect(last).toMatch(/^node infra\/operations\/steps\/alter\.ts "ALTER TABLE iot\.schema_version WITH /);
  expect(last).toContain(`"ALTER TABLE iot.message WITH tombstone_gc = {'mode': 'immediate'}"`);
  for (const table of ['annotation', 'alarm_delivery'])
    expect(last).toContain(`"ALTER TABLE iot.${table} WITH tombstone_gc = {'mode': 'timeout'}"`);
  expect(last).toContain(`"ALTER TABLE iot.credential WITH tombstone_gc = {'mode': 'repair'}"`);
});

test.each([
  ['backup', '--cluster'],
  ['backup --engine cassandra --location s3:bucket', '--nodes'],
  ['backup --engine cassandra --nodes a', '--location'],
  ['backup --engine mysql', 'scylla or cassandra'],
  ['restore --cluster prod --location s3:bucket', '--tag'],
  ['restore --engine cassandra --nodes a --tag t --location s3:bucket --into drill', 'over the one in use'],
  ['restore --cluster prod --nodes a --tag t --location s3:bucket --into drill', 'over the one in use'],
  ['remove-node --nodes a,b', 'either --node or --dead'],
  ['remove-node --nodes a,b,c --node c', '--node c is one of --nodes'],
  ['add-node --nodes a,b,c --node c', '--node c is one of --nodes'],
  [
    'remove-node --nodes a,b --node c --reach infra/operations/reach/kubernetes.sh',
    'change its ScyllaCluster',
  ],
  ['upgrade --nodes a,b --to 2026.1.6 --reach infra/operations/reach/compose.sh', "in compose the image's"],
  ['add-node --nodes a,b --node c --reach infra/operations/reach/compose.sh', 'in compose add a service'],
  ['restore --engine cassandra --nodes a --tag ../../etc', '"../../etc" is no name'],
  ['backup --engine cassandra --nodes a,-oProxyCommand=x', '"-oProxyCommand=x" is no name'],
  ['backup --engine cassandra --nodes a --location ftp:bucket', 's3:BUCKET or gcs:BUCKET'],
  ['rotate --secret luck', '--secret is serve, migrate, broker'],
  ['rotate --secret serve --nodes a --migrate-file m', '--file'],
  ['rotate --secret serve --nodes a --file f', '--migrate-file'],
  ['rotate --secret broker --nodes a --file f', '--reload'],
  ['rotate --secret cursor --nodes a --file f', '--deliver'],
  [
    'rotate --secret token --nodes api --file f --deliver true --reach infra/operations/reach/compose.sh',
    'under New secrets',
  ],
  ['dance', "unknown operation 'dance'"],
])('npm run operations %s: a usage error before any command: %s', async (words, message) => {
  const fakes = makeFakes(join(directory, 'refused'));
  const { code, errors } = await operate(words.split(' '), fakes.env);
  expect(code).toBe(2);
  expect(errors).toContain(message);
  expect(fakes.called()).toEqual([]);
});

test('Scripts in infra/operations/reach: shellcheck finds no problem; --help prints the usage', async () => {
  const folder = 'infra/operations/reach';
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    expect(await run('shellcheck', [path], process.env)).toMatchObject({ out: '', code: 0 });
    expect(await run('sh', [path, '--help'], process.env)).toMatchObject({
      code: 0,
      out: expect.stringContaining(path),
    });
  }
});

test('npm run operations: --help of an operation: lists only its flags; any other flag is a usage error', async () => {
  const help = async (name: string) => (await operate([name, '--help'], process.env)).out;
  expect(await help('add-node')).not.toMatch(/--(cluster|tag|stop)/);
  expect(await help('upgrade')).toMatch(/--within <duration> +how long .* \(default: 30m\)/);
  expect(await help('add-node')).toMatch(/--within <duration> +how long .* \(default: 1d\)/);
  expect(
    await operate('rotate --secret token --nodes a --engine scylla'.split(' '), process.env),
  ).toMatchObject({
    code: 2,
    errors: expect.stringContaining("unknown flag '--engine'"),
  });
});
