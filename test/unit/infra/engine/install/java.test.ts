import { expect, test } from '@jest/globals';
import { cassandraYaml } from '../../../../../infra/engine/cassandra-yaml.ts';

test('cassandra.yaml: a path has quotes, a colon and a number sign: the path is escaped', () => {
  const yaml = cassandraYaml({
    dir: '/data of "mine": #1',
    host: '127.0.0.1',
    port: 9042,
    storagePort: 7000,
    auth: false,
    durable: false,
  });
  expect(yaml).toContain('commitlog_directory: "/data of \\"mine\\": #1/commitlog"\n');
});
