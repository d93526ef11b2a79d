import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../support/directory.ts';
import { makeFakes, operate } from '../../support/operations/fakes.ts';

// Operations stop when nodes are down, too few, or in an unexpected state.

const directory = useDirectory('operations');

const NODES = '--nodes a,b,c';

test('Cluster upgrade: a node is down: no node is upgraded, and the error names the --from to continue with', async () => {
  const running = '5.0.10';
  const fakes = makeFakes(join(directory, 'away'), { nodes: 2, running });
  const words = `upgrade --engine cassandra ${NODES} --to 5.0.10 --install true`.split(' ');
  const { code, errors } = await operate(words, fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain('Step 2/');
  expect(errors).toContain('go on with the same command and --from 2.');
  expect(fakes.called().filter((line) => /drain|snapshot|systemctl/.test(line))).toEqual([]);

  const recovered = makeFakes(join(directory, 'away'), { running });
  expect(await operate([...words, '--from', '2'], recovered.env)).toMatchObject({ code: 0 });
  const called = recovered.called();
  expect(called.indexOf('nodetool describecluster')).toBeGreaterThan(called.indexOf('nodetool drain'));
  expect(called.filter((line) => line === 'nodetool drain')).toHaveLength(3);
});

test.each([
  ['the node runs another version', { running: '2026.1.7-0.20260901.0a1b2c3-1' }, 'Step 10/', '"2026.1.7'],
  [
    'the nodes have two schemas',
    { running: '2026.1.6', schemas: ['86afa796: [10.0.0.1]', '9c1f0d2e: [10.0.0.2]'] },
    'Step 1/',
    'After 1s the nodes have not one schema',
  ],
])('Cluster upgrade: %s: stops with an error that names the step', async (_, engine, step, message) => {
  const fakes = makeFakes(join(directory, 'other'), { nodes: 1, ...engine });
  const words = 'upgrade --cluster prod --nodes a --to 2026.1.6 --install true --within 1s'.split(' ');
  const { code, errors } = await operate(words, fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain(step);
  expect(errors).toContain(message);
  const suspended = fakes.called().includes('sctool suspend -c prod');
  expect(errors.includes('or: sctool resume -c prod --start-tasks')).toBe(suspended);
});

test('npm run operations add-node: the node does not join within --within: the error suggests nodetool status', async () => {
  const fakes = makeFakes(join(directory, 'vain'));
  const words = `add-node ${NODES} --node d --within 1s --config ${fakes.config}`.split(' ');
  const { code, errors } = await operate(words, fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain('After 1s this node does not see 4 nodes, all up: look at nodetool status');
});

test.each([
  ['fewer nodes than replicas would remain', '--node c', {}, 'nodes left there: 2, in 2 of 3 racks'],
  ['fewer nodes than replicas would remain without the dead node', '--dead id-c', {}, 'That is too few'],
  [
    'fewer racks than replicas would remain',
    '--node d',
    { nodes: 4, racks: ['r1', 'r1', 'r2', 'r3'] },
    'left there: 3, in 2 of 3 racks',
  ],
  ['the id of the dead node is unknown', '--dead id-x', {}, 'There is no node id-x'],
])('npm run operations remove-node: %s: an error, no node is removed', async (_, which, engine, message) => {
  const fakes = makeFakes(join(directory, 'few'), { copies: 3, ...engine });
  const nodes = which === '--node c' ? 'a,b' : NODES;
  const words = `remove-node --nodes ${nodes.replace('--nodes ', '')} ${which} --engine cassandra`.split(' ');
  const { code, errors } = await operate(words, fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain(message);
  expect(fakes.called().filter((line) => /decommission|removenode|systemctl/.test(line))).toEqual([]);
});

test('npm run operations remove-node: the removed node is a seed: the output asks for another seed', async () => {
  for (const [node, isSeed] of [
    ['c', true],
    ['d', false],
  ] as const) {
    const fakes = makeFakes(join(directory, 'seed'), { nodes: node === 'c' ? 3 : 4 });
    const nodes = node === 'c' ? 'a,b' : 'a,b,c';
    const words = `remove-node --nodes ${nodes} --node ${node} --config ${fakes.config}`.split(' ');
    const { code, errors } = await operate(words, fakes.env);
    expect(code).toBe(0);
    expect(errors.includes('is a seed: name another')).toBe(isSeed);
  }
});

test.each([
  ['listen_address: 10.0.0.9', '"10.0.0.1,10.0.0.9"'],
  ["listen_address: '10.0.0.9'  # of the second network", '10.0.0.9:7000'],
  // The default configuration in the packages of both engines.
  ['listen_address: localhost', '"127.0.0.1:7000"'],
])('npm run operations add-node: the new node is its own seed (%s): not started', async (address, seeds) => {
  const fakes = makeFakes(join(directory, 'own-seed'));
  writeFileSync(fakes.config, `${address}\n      - seeds: ${seeds}\n`);
  const words = `add-node ${NODES} --node new --config ${fakes.config}`.split(' ');
  const { code, errors } = await operate(words, fakes.env);
  expect(code).toBe(1);
  expect(errors).toContain('It is its own seed');
  expect(fakes.called().join('\n')).not.toContain('systemctl');
});

test('npm run operations remove-node in Compose: the node has left the cluster: its container is stopped', async () => {
  const fakes = makeFakes(join(directory, 'compose'));
  const words = ['remove-node', '--nodes', 'a,b', '--node', 'c', '--config', fakes.config];
  const ran = await operate([...words, '--reach', 'sh infra/operations/reach/compose.sh'], fakes.env);
  expect(ran).toMatchObject({ code: 0 });
  expect(fakes.called().slice(-1)).toEqual(['docker compose stop c']);
});
