import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { standIns } from '../../support/operations/stand-ins.ts';

// Runs the scripts of infra/operations with stand-ins for the programs of a node. test/cluster runs them against Cassandra.

const FOLDER = 'infra/operations';
const SECRET = 'secret-of-the-database';

let nodes: ReturnType<typeof standIns>;

beforeAll(() => {
  nodes = standIns({
    ssh: 'shift; sh -c "$1"',
    nodetool: `case $1 in
  status) for i in $(seq 3); do [ $i -gt $UP ] && echo "DN 10.0.0.$i" || echo "UN 10.0.0.$i"; done ;;
  info) echo 'Native Transport active: true' ;;
  version) echo "ReleaseVersion: $RUNNING" ;;
  describecluster) printf '\\tSchema versions:\\n\\t\\t86afa796: [10.0.0.1]\\n\\t\\tUNREACHABLE: [10.0.0.9]\\n' ;;
esac`,
    sudo: 'case $1 in tee) cat >"$HERE/pins" ;; esac',
    curl: 'echo "\\"$RUNNING\\""',
    node: '[ -z "$PROCESSES" ]',
    npm: '',
  });
});
afterAll(() => nodes?.remove());

const run = (script: string, variables: Record<string, string>) =>
  nodes.run('sh', [`${FOLDER}/${script}`, 'a', 'b', 'c'], {
    UP: '3',
    PROCESSES: '',
    RUNNING: '',
    CQL_PASSWORD: SECRET,
    ...variables,
  });

test.each([
  ['cassandra', '5.0.10', '5.0.10', 'Package: cassandra*\nPin: version 5.0.10\nPin-Priority: 990\n'],
  [
    'scylla',
    '2026.1.6',
    '2026.1.6-0.20260901.0a1b2c3-1',
    'Package: scylla*\nPin: version 2026.1.6-*\nPin-Priority: 990\n',
  ],
])(
  'upgrade.sh of %s: the nodes stop one after the other, after their packages are there',
  async (engine, to, running, pins) => {
    const { code, calls, stdout } = await run('upgrade.sh', { ENGINE: engine, TO: to, RUNNING: running });
    expect({ code, output: code ? stdout : '' }).toEqual({ code: 0, output: '' });
    const service = { cassandra: 'cassandra', scylla: 'scylla-server' }[engine];
    const changes = calls.filter((call) => /^(sudo (systemctl|env)|nodetool (drain|snapshot))/.test(call));
    const install = expect.stringMatching(new RegExp(`^sudo env .* install ${engine}=${to}`));
    const fetch = expect.stringMatching(new RegExp(`^sudo env .* --download-only install ${engine}=${to}`));
    const node = [
      `nodetool snapshot -t before-${to} iot`,
      'nodetool drain',
      `sudo systemctl stop ${service}`,
      install,
      `sudo systemctl start ${service}`,
    ];
    expect(changes).toEqual([fetch, fetch, fetch, ...node, ...node, ...node]);
    expect(nodes.read('pins')).toBe(pins);
    expect(calls.at(-1)).toBe('nodetool describecluster');
  },
);

test('upgrade.sh: a node is down, or the node runs another version: the script stops with an error', async () => {
  const down = await run('upgrade.sh', { TO: '5.0.10', RUNNING: '5.0.10', UP: '2', INSTALL: 'true' });
  expect(down.code).not.toBe(0);
  expect(down.calls.filter((call) => /drain|systemctl/.test(call))).toEqual([]);
  const other = await run('upgrade.sh', { TO: '5.0.10', RUNNING: '5.0.9', INSTALL: 'true' });
  expect(other.code).not.toBe(0);
  expect(other.calls.filter((call) => call === 'nodetool drain')).toHaveLength(1);
});

test('tombstone-gc.ts: output: sets tombstone_gc of each table to the value of the schema', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [`${FOLDER}/tombstone-gc.ts`]);
  expect(stdout).toContain("ALTER TABLE iot.message WITH tombstone_gc = {'mode': 'immediate'};");
  for (const table of ['annotation', 'alarm_delivery'])
    expect(stdout).toContain(`ALTER TABLE iot.${table} WITH tombstone_gc = {'mode': 'timeout'};`);
  expect(stdout).toContain("ALTER TABLE iot.credential WITH tombstone_gc = {'mode': 'repair'};");
});
