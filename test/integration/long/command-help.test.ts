import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { forEachConcurrently } from '../../../common/concurrency.ts';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The npm scripts that run a command of this project, with the words after `node`. */
const COMMANDS = Object.entries(scripts).flatMap(([name, script]) => {
  const [, words] = /\bexec node --import \S+ (?!node_modules)(.*)$/.exec(script) ?? [];
  return words ? [{ name, words: words.split(' ') }] : [];
});

/** Files that `npm run docs:reference` writes. */
const WRITTEN = ['.env.example', 'docs/reference/kafka-topics.asyncapi.json'];

/** The commands that read no setting. */
const WITHOUT_SETTINGS = /^(size|docs:|test)/;

function run(words: string[]): Promise<{ code: number | null; out: string; errors: string }> {
  // A command that reads these invalid settings would fail.
  const env = { ...process.env, HTTP_PORT: 'none', CQL_CONTACT_POINTS: 'a b' };
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const read = { out: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (read.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (read.errors += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...read }));
  });
}

const timesOf = () => WRITTEN.map((file) => statSync(file).mtimeMs);

test('npm scripts of this project: option --help: prints the usage with an example, and changes no file', async () => {
  expect(COMMANDS.length).toBeGreaterThan(20);
  const before = timesOf();
  const answers: Record<string, unknown> = {};
  await forEachConcurrently(4, COMMANDS, async ({ name, words }) => {
    const { code, out, errors } = await run([...words, '--help']);
    answers[name] = {
      code,
      errors,
      usage: /^Usage: npm /.test(out),
      settings: /\nSettings, from .*\n {2}[A-Z]/.test(out) || WITHOUT_SETTINGS.test(name),
      example: /\nExamples:\n {2}\w/.test(out),
    };
  });
  const expected = { code: 0, errors: '', usage: true, settings: true, example: true };
  expect(answers).toEqual(Object.fromEntries(COMMANDS.map(({ name }) => [name, expected])));
  expect(timesOf()).toEqual(before);
});
