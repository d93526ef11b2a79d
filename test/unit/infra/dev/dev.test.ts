import { access, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { reachable } from '../../../../common/addresses.ts';
import { claimDataDir, emptyDataDir } from '../../../../common/data-dir.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { summarize } from '../../../../infra/dev/api-log.ts';
import { buildManual } from '../../../../infra/dev/build.ts';
import { readFlags, simulatorArguments } from '../../../../infra/dev/flags.ts';
import { KEPT_FOLDERS } from '../../../../infra/dev/prepare.ts';
import { createRunningProcesses } from '../../../../infra/dev/running-processes.ts';
import { childEnvironment, readDevSettings } from '../../../../infra/dev/settings.ts';
import { shownPath } from '../../../../infra/dev/welcome.ts';
import { ensurePython } from '../../../../infra/python/ensure.ts';

describe('npm run dev: the simulator gets', () => {
  const broker = 'mqtt://127.0.0.1:1883';
  const read = (...argv: string[]) => {
    const { simulator, duration } = readFlags(argv);
    return simulator && simulatorArguments(simulator, { broker, duration }).join(' ');
  };

  test('npm run dev: no flag: the simulator gets the broker and a fixed seed', () => {
    expect(read()).toBe(`--broker ${broker} --seed 1`);
  });

  test('npm run dev: flags of dev and of the simulator: the simulator gets only its own flags and the duration', () => {
    expect(read('--devices', '3', '--sensors=2', '--seed', '7', '--duration', '1m', '--batch', '2s')).toBe(
      `--broker ${broker} --devices 3 --sensors 2 --batch 2s --seed 7 --duration 60000ms`,
    );
    expect(read('--profile', 'factory', '--faults', 'late=0.05', '--format', 'json', '--fresh')).toBe(
      `--broker ${broker} --profile factory --seed 1 --faults late=0.05 --format json`,
    );
  });

  test.each([['--no-simulator'], ['--devices=0']])('npm run dev: %s: no simulator starts', (flag) => {
    expect(read(flag)).toBeNull();
  });

  test.each([
    [['--batch', '1s', '--interval', '5s'], '--batch is at least --interval'],
    [['--profile', 'zoo'], '--profile is collar or factory'],
    [['--sensor', '3'], "unknown flag '--sensor'. Did you mean --sensors?"],
    [['--broker', broker], "unknown flag '--broker'"],
  ])('npm run dev: invalid flags %j: refused before anything starts', (argv, rule) => {
    expect(() => read(...argv)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining(rule) }),
    );
  });

  test('npm run dev: --help: the flags of dev and of the simulator are listed', () => {
    expect(() => read('--help')).toThrow(
      /Flags:\n {2}--duration.*Flags of the simulator.*--faults.*Examples:/s,
    );
  });
});

test('npm run dev: a setting of Kafka is invalid: refused before anything starts', async () => {
  process.env['STREAM_FORMAT'] = 'xml';
  try {
    await expect(readDevSettings()).rejects.toThrow('STREAM_FORMAT must be one of');
  } finally {
    delete process.env['STREAM_FORMAT'];
  }
});

describe('Dev: output for a line of the log of the API', () => {
  test.each([
    ['a line below warning: not shown', '{"level":30,"msg":"ready"}', null],
    ['a warning: shown with its message', '{"level":40,"msg":"slow"}', '! slow'],
    [
      'a warning with account and address: both shown',
      '{"level":40,"msg":"wrong","account":"valve","address":"192.0.2.1"}',
      '! wrong (account valve, from 192.0.2.1)',
    ],
    ['a warning with an address: shown', '{"level":40,"msg":"wrong","address":"::1"}', '! wrong (from ::1)'],
    ['an error with a cause: shown', '{"level":50,"msg":"failed","err":{"message":"why"}}', '✗ failed: why'],
    [
      'a text of a client: on one line, without control characters',
      JSON.stringify({ level: 40, msg: 'a\n✗ b \u001b[2J\u009b1A\u202e' }),
      '! a ✗ b ?[2J?1A?',
    ],
    ['a line that is not JSON: not shown', 'Debugger listening', null],
    ['a truncated line: not shown', '{"level":50,"ms', null],
  ])('npm run dev: output for an API log line: %s', (_, line, shown) => expect(summarize(line)).toBe(shown));
});

describe('Dev: its processes', () => {
  const processOf = (title: string, calls: string[], exited = new Promise<Error | null>(() => {})) => ({
    title,
    stopTimeoutMs: 1000,
    exited,
    stop: async ({ withinMs }: { withinMs: number }) => void calls.push(`${title} ${withinMs <= 1000}`),
    kill: () => void calls.push(`kill ${title}`),
  });

  test('npm run dev: stop of its processes: they stop in the reverse order of their start', async () => {
    const calls: string[] = [];
    const processes = createRunningProcesses({ withinMs: 5000, print: () => {} });
    for (const title of ['database', 'API', 'simulator']) processes.add(processOf(title, calls));
    await processes.stop();
    expect(calls).toEqual(['simulator true', 'API true', 'database true']);
  });

  test('npm run dev: one of its processes fails: the promise `failed` rejects, even for later callers', async () => {
    const processes = createRunningProcesses({ withinMs: 5000, print: () => {} });
    processes.add(processOf('fine', [], Promise.resolve(null)));
    processes.add(processOf('broken', [], Promise.resolve(new Error('broke'))));
    await expect(processes.failed).rejects.toThrow('broke');
  });
});

describe('Dev: --fresh', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'millrace-fresh-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  test('npm run dev -- --fresh: the data directory of Millrace is emptied, except for downloads and certificates', async () => {
    await claimDataDir(dir);
    for (const name of ['engine', 'tls', 'cassandra', 'cursor-secret']) await writeFile(join(dir, name), '');
    await emptyDataDir(dir, KEPT_FOLDERS);
    expect((await readdir(dir)).sort()).toEqual(['.millrace', 'engine', 'tls']);
  });

  test('npm run dev -- --fresh: the manual was built before the first start: the cache of the manual stays, other files are removed', async () => {
    await writeFile(join(dir, 'vitepress'), '');
    await emptyDataDir(dir, KEPT_FOLDERS);
    await claimDataDir(dir);
    await writeFile(join(dir, 'cassandra'), '');
    await emptyDataDir(dir, KEPT_FOLDERS);
    expect((await readdir(dir)).sort()).toEqual(['.millrace', 'vitepress']);
  });

  test('npm run dev -- --fresh: only test tools were installed in the data directory: the directory is emptied', async () => {
    const options = { dataDir: dir, onStatus: () => {}, python: join(dir, 'no-python') };
    await expect(ensurePython(options)).rejects.toMatchObject({ code: 'tool_missing' });
    await emptyDataDir(dir, KEPT_FOLDERS);
    expect(await readdir(dir)).toEqual(['.millrace']);
  });

  test('npm run dev -- --fresh: the data directory has unknown files: not_ours, and no file is removed', async () => {
    await writeFile(join(dir, 'thesis.tex'), '');
    await claimDataDir(dir);
    await expect(emptyDataDir(dir, [])).rejects.toMatchObject({ code: 'not_ours' });
    await access(join(dir, 'thesis.tex'));
  });

  test('npm run dev -- --fresh: the data directory does not exist: no error is thrown', async () => {
    await emptyDataDir(join(dir, 'new'), []);
  });
});

describe('Dev: settings of its processes', () => {
  const config = readSettings({}, { envFile: join(tmpdir(), 'millrace-no-file') });

  test('npm run dev: local database: the TLS settings of a remote cluster are removed from the environment', () => {
    expect(childEnvironment(config, '127.0.0.1:9042', null)).toMatchObject({
      CQL_CONTACT_POINTS: '127.0.0.1:9042',
      CQL_TLS_CA: '',
      CQL_TLS_CERT: '',
      CQL_TLS_KEY: '',
    });
  });

  test('npm run dev: local Kafka: TLS settings and account of a remote Kafka are removed from the environment', () => {
    expect(childEnvironment(config, null, '127.0.0.1:9092')).toMatchObject({
      STREAM_KAFKA: '127.0.0.1:9092',
      STREAM_TLS: '',
      STREAM_TLS_CA: '',
      STREAM_TLS_CERT: '',
      STREAM_TLS_KEY: '',
      STREAM_USERNAME: '',
      STREAM_PASSWORD: '',
      STREAM_PASSWORD_FILE: '',
    });
  });
});

describe('Dev: the manual', () => {
  const [BEFORE, BUILT, AFTER] = [1000, 2000, 3000];
  let root: string;

  /** @param changedAt epoch s */
  async function write(path: string, changedAt: number, text: string = '') {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    await utimes(file, changedAt, changedAt);
  }

  /** @returns printed lines: each build prints one, because the bundler of this test fails */
  async function build(): Promise<string[]> {
    const lines: string[] = [];
    const { signal } = new AbortController();
    await buildManual({ root, signal, print: (line) => lines.push(line) });
    return lines;
  }

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'millrace-manual-'));
    await write('node_modules/vitepress/bin/vitepress.js', BEFORE, 'process.exit(1);\n');
    for (const path of [
      'docs/README.md',
      'docs/.vitepress/config.js',
      'api/features/index.ts',
      'api/http/routes/index.ts',
      'common/errors.ts',
      'schema/migrations/001-first.cql',
      'web/kit/base.css',
    ])
      await write(path, BEFORE);
    for (const path of ['index.html', 'http/bundle.js', 'mqtt/bundle.css'])
      await write(`dist/docs/${path}`, BUILT);
  });
  afterEach(() => rm(root, { recursive: true }));

  test('npm run dev: the manual is newer than its sources, but folders are newer and a link is broken: the manual is not built', async () => {
    await symlink('nowhere', join(root, 'docs/.#README.md'));
    expect(await build()).toEqual([]);
  });

  test.each(['docs/README.md', 'api/http/routes/index.ts', 'schema/migrations/001-first.cql'])(
    'npm run dev: %s is newer than the manual: the manual is built',
    async (path) => {
      await write(path, AFTER);
      expect(await build()).toHaveLength(1);
    },
  );

  test('npm run dev: the manual is up to date, but its copied files are older than the sources: the manual is not built', async () => {
    for (const path of ['http/bundle.js', 'mqtt/bundle.css']) await write(`dist/docs/${path}`, BEFORE - 500);
    expect(await build()).toEqual([]);
  });

  test('npm run dev: the last build of the manual was interrupted: the manual is built again', async () => {
    await rm(join(root, 'dist/docs/mqtt/bundle.css'));
    expect(await build()).toHaveLength(1);
  });
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['::1', '[::1]'],
])('npm run dev: listening address %s: shown as %s', (host, name) => expect(reachable(host)).toBe(name));

test('npm run dev: path inside the repository: shown as a relative path', () => {
  expect(shownPath('/repo', '/repo/.data')).toBe('.data');
  expect(shownPath('/repo', '/elsewhere/data')).toBe('/elsewhere/data');
});
