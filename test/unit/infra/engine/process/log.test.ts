import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { explainEnd } from '../../../../../infra/engine/process/log.ts';

let dir: string;
const path = () => join(dir, 'cassandra.log');

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'millrace-log-'));
});
afterEach(() => rm(dir, { recursive: true }));

test.each([
  [
    'a full disk',
    'ERROR [main] Exiting\njava.io.IOException: No space left on device\n',
    'disk_full',
    /Make room, or set DATA_DIR/,
  ],
  ['a lack of memory', 'java.lang.OutOfMemoryError: Java heap space\n', 'engine_failed', /memory ran short/],
  [
    'a kill',
    'INFO all is well\nERROR The server was ended by SIGKILL\n',
    'engine_failed',
    /ended by SIGKILL/,
  ],
  [
    'an error, without its stack and what was well',
    'INFO fine\nERROR [main] Bad configuration\n\tat org.apache.Foo\n    at org.apache.Bar\n',
    'engine_failed',
    /ends with:\n {2}ERROR \[main\] Bad configuration$/,
  ],
  [
    'an exit code after its cause',
    'INFO fine\nERROR [main] Address already in use\n\tat org.apache.Foo\nERROR The server ended with exit code 3\n',
    'engine_failed',
    /ends with:\n {2}ERROR \[main\] Address already in use\n {2}ERROR The server ended with exit code 3$/,
  ],
])('Log of the local Cassandra: ends with %s: the error reports it', async (_, log, code, message) => {
  await writeFile(path(), log);
  const error = await explainEnd(path(), { ready: true, dataDir: dir });
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(error.message).toContain(path());
});
