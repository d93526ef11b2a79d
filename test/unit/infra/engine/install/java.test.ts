import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cassandraYaml } from '../../../../../infra/engine/cassandra-yaml.ts';
import { findJava } from '../../../../../infra/engine/install/java.ts';
import { useDirectory } from '../../../../support/directory.ts';

const dir = useDirectory('java');

/** Writes a fake `java` that prints the given version. */
async function javaOf(name: string, version: string) {
  const path = join(dir, name, 'bin/java');
  await mkdir(dirname(path), { recursive: true });
  const lines = [`    java.home = ${join(dir, name)}`, `    java.specification.version = ${version}`];
  await writeFile(path, `#!/bin/sh\ncat >&2 <<'END'\n${lines.join('\n')}\nEND\n`);
  await chmod(path, 0o755);
  return join(dir, name);
}

test('Java search: JAVA_HOME comes before PATH, versions other than 17 are skipped and listed', async () => {
  const eight = await javaOf('eight', '1.8');
  const seventeen = await javaOf('seventeen', '17');
  const other = await javaOf('other', '17');
  const found = await findJava({ JAVA_HOME: eight, PATH: `/nowhere:${seventeen}/bin:${other}/bin` });
  expect(found).toEqual({
    java: { path: join(seventeen, 'bin/java'), home: seventeen },
    others: [`8 at ${join(eight, 'bin/java')}`],
  });
});

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
