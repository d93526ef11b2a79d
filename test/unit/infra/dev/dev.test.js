import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { reachable } from '../../../../common/addresses.js';
import { claimDataDir, emptyDataDir } from '../../../../common/data-dir.js';
import { summarize } from '../../../../infra/dev/api-log.js';
import { readFlags, simulatorArguments } from '../../../../infra/dev/flags.js';
import { createParts } from '../../../../infra/dev/parts.js';
import { shownPath } from '../../../../infra/dev/welcome.js';

describe('npm run dev: the simulator gets', () => {
  const broker = 'mqtt://127.0.0.1:1883';
  const read = (/** @type {string[]} */ ...argv) => {
    const { simulator, duration } = readFlags(argv);
    return simulator && simulatorArguments(simulator, { broker, duration }).join(' ');
  };

  test('no flag: the broker and a fixed seed', () => {
    expect(read()).toBe(`--broker ${broker} --seed 1`);
  });

  test('flags of both groups: those of the simulator, and what is left of the time', () => {
    expect(read('--devices', '3', '--sensors=2', '--seed', '7', '--duration', '1m', '--batch', '2s')).toBe(
      `--broker ${broker} --devices 3 --sensors 2 --batch 2s --seed 7 --duration 60000ms`,
    );
    expect(read('--profile', 'factory', '--faults', 'late=0.05', '--format', 'json', '--fresh')).toBe(
      `--broker ${broker} --profile factory --seed 1 --faults late=0.05 --format json`,
    );
  });

  test.each([['--no-simulator'], ['--devices=0']])('%s: it does not start', (flag) => {
    expect(read(flag)).toBeNull();
  });

  test.each([
    [['--batch', '1s', '--interval', '5s'], '--batch is at least --interval'],
    [['--profile', 'zoo'], '--profile is collar or factory'],
    [['--sensor', '3'], "unknown flag '--sensor'. Did you mean --sensors?"],
    [['--broker', broker], "unknown flag '--broker'"],
  ])('%j: refused before anything starts', (argv, rule) => {
    expect(() => read(...argv)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(rule) }),
    );
  });

  test('--help: lists the flags of both', () => {
    expect(() => read('--help')).toThrow(
      /Flags:\n {2}--duration.*Flags of the simulator.*--faults.*Examples:/s,
    );
  });
});

describe('Dev: output for a line of the log of the API', () => {
  test.each([
    ['nothing of what is well', '{"level":30,"msg":"ready"}', null],
    ['a warning', '{"level":40,"msg":"slow"}', '! slow'],
    [
      'its subject',
      '{"level":40,"msg":"wrong","account":"valve","address":"192.0.2.1"}',
      '! wrong (account valve, from 192.0.2.1)',
    ],
    ['from where it comes', '{"level":40,"msg":"wrong","address":"::1"}', '! wrong (from ::1)'],
    ['an error with its cause', '{"level":50,"msg":"failed","err":{"message":"why"}}', '✗ failed: why'],
    [
      "strangers' text on one line, and nothing that a terminal obeys",
      JSON.stringify({ level: 40, msg: 'a\n✗ b \u001b[2J\u009b1A\u202e' }),
      '! a ✗ b ?[2J?1A?',
    ],
    ['nothing of what is no log line', 'Debugger listening', null],
    ['nothing of a line that was cut', '{"level":50,"ms', null],
  ])('%s', (_, line, shown) => expect(summarize(line)).toBe(shown));
});

describe('Dev: its processes', () => {
  const part = (
    /** @type {string} */ title,
    /** @type {string[]} */ calls,
    exited = new Promise(() => {}),
  ) => ({
    title,
    stopTimeoutMs: 1000,
    exited,
    stop: async (/** @type {{ withinMs: number }} */ { withinMs }) =>
      void calls.push(`${title} ${withinMs <= 1000}`),
    kill: () => void calls.push(`kill ${title}`),
  });

  test('stop: in reverse order of their start', async () => {
    /** @type {string[]} */
    const calls = [];
    const parts = createParts({ withinMs: 5000, print: () => {} });
    for (const title of ['database', 'API', 'simulator']) parts.add(part(title, calls));
    await parts.stop();
    expect(calls).toEqual(['simulator true', 'API true', 'database true']);
  });

  test('one fails: reported, also to later callers', async () => {
    const parts = createParts({ withinMs: 5000, print: () => {} });
    parts.add(part('fine', [], Promise.resolve(null)));
    parts.add(part('broken', [], Promise.resolve(new Error('broke'))));
    await expect(parts.failed).rejects.toThrow('broke');
  });
});

describe('Dev: --fresh', () => {
  /** @type {string} */
  let dir;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-fresh-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('own directory: emptied, except for downloads', async () => {
    await claimDataDir(dir);
    for (const name of ['engine', 'cassandra', 'cursor-secret']) await writeFile(join(dir, name), '');
    await emptyDataDir(dir, ['engine']);
    expect((await readdir(dir)).sort()).toEqual(['.millrace', 'engine']);
  });

  test('directory with other files: refused and unchanged, even after a run in it', async () => {
    await writeFile(join(dir, 'thesis.tex'), '');
    await claimDataDir(dir);
    await expect(emptyDataDir(dir, [])).rejects.toMatchObject({ code: 'not_ours' });
    await access(join(dir, 'thesis.tex'));
  });

  test('no directory yet: no error', async () => {
    await emptyDataDir(join(dir, 'new'), []);
  });
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['::1', '[::1]'],
])('Dev: address %s: shown as %s', (host, name) => expect(reachable(host)).toBe(name));

test('Dev: paths inside the repository: shown relative', () => {
  expect(shownPath('/repo', '/repo/.data')).toBe('.data');
  expect(shownPath('/repo', '/elsewhere/data')).toBe('/elsewhere/data');
});
