import { closeSync, writeSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkDisk } from '../../../../../infra/engine/disk.ts';
import { beginLog, explainEnd } from '../../../../../infra/engine/process/log.ts';

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

test('Log of the local Cassandra: it contains the flag ExitOnOutOfMemoryError: the error does not blame memory', async () => {
  await writeFile(path(), 'INFO JVM Arguments: [-XX:+ExitOnOutOfMemoryError]\n');
  const { message } = await explainEnd(path(), { ready: false, dataDir: dir });
  expect(message).not.toMatch(/memory ran short/);
});

test('Log of the local Cassandra: a new log begins: the previous log is kept with the suffix .old', async () => {
  for (const text of ['first', 'second']) {
    const log = beginLog(path());
    writeSync(log, text);
    closeSync(log);
  }
  expect(await readFile(path(), 'utf8')).toBe('second');
  expect(await readFile(`${path()}.old`, 'utf8')).toBe('first');
});

test('Disk check of the local Cassandra: too little space: the error has the free MiB and names DATA_DIR', async () => {
  await checkDisk(dir, 1);
  await expect(checkDisk(dir, 2 ** 60)).rejects.toMatchObject({
    code: 'disk_full',
    message: expect.stringMatching(/\d+ MiB free.*DATA_DIR/),
  });
});
