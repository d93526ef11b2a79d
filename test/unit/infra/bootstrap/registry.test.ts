import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MillraceError } from '../../../../common/errors.ts';
import { askRegistry } from '../../../../infra/bootstrap/registry.ts';
import { ensureJars } from '../../../../infra/engine/install/jars.ts';
import { writePrograms } from '../../../support/processes/programs.ts';

/** @param failures before the first success */
function failing(failures: Error[]) {
  const calls = { count: 0 };
  const task = async () => {
    const failure = failures[calls.count++];
    if (failure) throw failure;
    return 'done';
  };
  return { calls, task };
}

const down = () => new Error('connect ECONNREFUSED');

describe('Registry', () => {
  test('Package registry: two requests fail, the third succeeds: the answer is returned, and the status names the registry', async () => {
    const { calls, task } = failing([down(), down()]);
    const texts: string[] = [];
    const options = { onStatus: (text: string) => texts.push(text), pausesMs: [0, 1] };
    expect(await askRegistry('PyPI', task, options)).toBe('done');
    expect(calls.count).toBe(3);
    expect(texts).toEqual([
      'PyPI did not answer; next try in 0 s',
      'PyPI did not answer; next try in 0.001 s',
    ]);
  });

  test('Package registry: three requests fail: install_failed with the registry, the reason and the advice', async () => {
    const { calls, task } = failing([down(), down(), down()]);
    const asked = askRegistry('Maven Central', task, {
      onStatus: () => {},
      pausesMs: [0, 0],
      advice: 'Try again.',
    });
    await expect(asked).rejects.toMatchObject({
      code: 'install_failed',
      message: 'Maven Central did not answer: connect ECONNREFUSED\nTry again.',
    });
    expect(calls.count).toBe(3);
  });

  test('Package registry: the disk is full: the error is thrown without a second request', async () => {
    const { calls, task } = failing([new MillraceError('disk_full', 'No room.')]);
    const asked = askRegistry('Maven Central', task, { onStatus: () => {}, pausesMs: [0, 0] });
    await expect(asked).rejects.toMatchObject({ code: 'disk_full' });
    expect(calls.count).toBe(1);
  });

  test('Package registry: aborted during a pause between tries: the request ends at once', async () => {
    const { calls, task } = failing([down()]);
    const controller = new AbortController();
    const asked = askRegistry('PyPI', task, {
      onStatus: () => controller.abort(),
      pausesMs: [86_400_000],
      signal: controller.signal,
    });
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    expect(calls.count).toBe(1);
  });
});

describe('Jars', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'millrace-jars-'));
    mkdirSync(join(directory, 'engine'));
    writeFileSync(join(directory, 'pom.xml'), '<project/>');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** @param maven lines of the fake Maven, after those that count its calls */
  function fetchBy(maven: string, silentMs?: number) {
    const lines = `echo call >> ${directory}/calls\nfor word in "$@"; do case $word in -DoutputDirectory=*) folder=\${word#*=};; esac; done`;
    writePrograms(directory, { mvn: `${lines}\n${maven}` });
    return ensureJars({
      engineDir: join(directory, 'engine'),
      set: { pom: join(directory, 'pom.xml'), title: 'Cassandra', count: 1, size: '1 MB' },
      maven: join(directory, 'mvn'),
      javaHome: directory,
      silentMs,
      pausesMs: [0, 0],
    });
  }

  const calls = () => readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n').length;

  test('Cassandra jars: Maven fails twice: the third try fetches the jars', async () => {
    const third = `[ $(wc -l < ${directory}/calls) -eq 3 ] || { echo '[ERROR] timed out'; exit 1; }`;
    const folder = await fetchBy(`${third}\nmkdir "$folder"; echo jar > "$folder/a.jar"`);
    expect(readdirSync(folder)).toEqual(['a.jar']);
    expect(calls()).toBe(3);
  });

  test('Cassandra jars: Maven fails three times: the error names Maven Central and the reason', async () => {
    await expect(fetchBy("echo '[ERROR] no route to host'; exit 1")).rejects.toMatchObject({
      code: 'install_failed',
      message: expect.stringMatching(/^Maven Central did not answer: .*no route to host\n.*Cassandra's jars/),
    });
    expect(calls()).toBe(3);
  });

  test('Cassandra jars: Maven prints nothing for too long: Maven is stopped, and the error reports the silence', async () => {
    await expect(fetchBy('exec sleep 86400', 50)).rejects.toThrow(
      /^Maven Central did not answer: Maven printed nothing for 0.05 s/,
    );
    expect(readdirSync(join(directory, 'engine'))).toEqual([]);
  });

  test('Cassandra jars: the disk is full: disk_full is thrown without another try', async () => {
    await expect(fetchBy("echo '[ERROR] No space left on device'; exit 1")).rejects.toMatchObject({
      code: 'disk_full',
    });
    expect(calls()).toBe(1);
  });
});
