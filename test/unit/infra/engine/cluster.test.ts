import { expect, test } from '@jest/globals';
import { cassandraYaml } from '../../../../infra/engine/cassandra-yaml.ts';
import { initialToken } from '../../../../infra/engine/cluster.ts';

test('Local cluster: the initial tokens of three nodes split the ring into equal parts', () => {
  const tokens = [0, 1, 2].map((index) => BigInt(initialToken(index, 3)));
  expect(tokens[0]).toBe(-(2n ** 63n));
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1] ?? 2n ** 63n;
    expect(Number(next - token) / 2 ** 64).toBeCloseTo(1 / 3, 12);
  }
});

test('cassandra.yaml: cluster nodes get initial_token and seeds, a single node gets no initial_token', () => {
  const node = {
    dir: '/data',
    host: '127.0.0.2',
    port: 9042,
    storagePort: 7000,
    auth: false,
    durable: false,
  };
  const founder = cassandraYaml({
    ...node,
    ring: { initialToken: '-17', seeds: ['127.0.0.1', '127.0.0.2'] },
  });
  expect(founder).toContain('\ninitial_token: "-17"\nauto_bootstrap: false\n');
  expect(founder).toContain('\n      - seeds: "127.0.0.1:7000,127.0.0.2:7000"\n');
  const joining = cassandraYaml({ ...node, ring: { initialToken: '5', seeds: ['127.0.0.1'], joins: true } });
  expect(joining).toContain('\ninitial_token: "5"\nauto_bootstrap: true\n');
  const alone = cassandraYaml(node);
  expect(alone).not.toMatch(/initial_token|auto_bootstrap/);
  expect(alone).toContain('\n      - seeds: "127.0.0.2:7000"\n');
});
