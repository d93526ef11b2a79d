import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { useDirectory } from '../../support/directory.ts';
import { makeFakes, operate, run, SECRETS } from '../../support/operations/fakes.ts';
import { writePrograms } from '../../support/processes/programs.ts';

const directory = useDirectory('operations');

/** @param file with the old password of the role that serves @returns the arguments of its rotation */
const rotation = (file: string): string[] =>
  `rotate --secret serve --file ${file} --migrate-file other --deliver true`.split(' ');

test('npm run operations rotate: new secret: written to its file only; no output and no command contains the secret', async () => {
  const fakes = makeFakes(join(directory, 'rotated'));
  const keys = join(directory, 'keys');
  mkdirSync(keys);
  const file = join(keys, 'serve');
  writeFileSync(file, 'the-old-one\n', { mode: 0o640 });
  const words = [...rotation(file), '--nodes', 'host-1'];
  const { code, out, errors } = await operate(words, fakes.env);
  expect(code).toBe(0);
  const secret = readFileSync(file, 'utf8').trim();
  expect(secret).toMatch(/^[0-9a-f]{48}$/);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(keys)).toEqual(['serve']);
  const seen = [out, errors, ...fakes.called()].join('\n');
  for (const value of [secret, 'the-old-one', ...Object.values(SECRETS).slice(1)])
    expect(seen).not.toContain(value);
  // A run that continues from an earlier step must not change the secret again.
  expect(await operate([...words, '--from', '4'], fakes.env)).toMatchObject({ code: 1 });
  expect(readFileSync(file, 'utf8').trim()).toBe(secret);
});

test.each([
  ['npm', 'the database keeps the old password: the secret file does not change', []],
  ['node', 'the database refuses the new password: no process restarts', []],
  ['curl', 'the first process does not become ready: the second process is not restarted', ['host-1']],
])('npm run operations rotate: %s fails, so %s', async (program, _, restarted) => {
  const home = join(directory, 'stuck');
  const fakes = makeFakes(home);
  writePrograms(join(home, 'bin'), { [program]: 'exit 1', sleep: '' });
  const file = join(home, 'serve');
  writeFileSync(file, 'the-old-one\n');
  expect(
    await operate([...rotation(file), '--within', '1s', '--nodes', 'host-1,host-2'], fakes.env),
  ).toMatchObject({
    code: 1,
  });
  const called = fakes.called().filter((line) => /^ssh .*restart/.test(line));
  expect(called.map((line) => line.split(' ')[1])).toEqual(restarted);
  if (restarted.length === 0) expect(readFileSync(file, 'utf8')).toBe('the-old-one\n');
});

test('npm run operations rotate: the secret file cannot be written: the script of --dry-run fails, and restarts no process', async () => {
  const home = join(directory, 'printed');
  const fakes = makeFakes(home);
  // Nobody can write to a folder, not even root.
  const file = join(home, 'folder');
  mkdirSync(file);
  const { out } = await operate([...rotation(file), '--nodes', 'host-1', '--dry-run'], fakes.env);
  const script = join(home, 'plan.sh');
  writeFileSync(script, out);
  expect((await run('sh', [script], fakes.env)).code).not.toBe(0);
  const called = fakes.called();
  expect(called.some((line) => line.startsWith('npm run -s roles'))).toBe(true);
  expect(called.filter((line) => line.startsWith('ssh'))).toEqual([]);
});
