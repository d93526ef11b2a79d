import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { claimDataDir, emptyDataDir } from '../../../../common/data-dir.ts';
import { readSettings } from '../../../../common/settings/index.ts';
import { readFlags, simulatorArguments } from '../../../../infra/dev/flags.ts';
import { KEPT_FOLDERS } from '../../../../infra/dev/prepare.ts';
import { createRunningProcesses } from '../../../../infra/dev/running-processes.ts';
import { childEnvironment, readDevSettings } from '../../../../infra/dev/settings.ts';

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

test('npm run dev: a setting of Kafka is invalid: refused before anything starts', async () => {
  process.env['STREAM_FORMAT'] = 'xml';
  try {
    await expect(readDevSettings()).rejects.toThrow('STREAM_FORMAT must be one of');
  } finally {
    delete process.env['STREAM_FORMAT'];
  }
});

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

  test('npm run dev -- --fresh: the data directory has unknown files: not_ours, and no file is removed', async () => {
    await writeFile(join(dir, 'thesis.tex'), '');
    await claimDataDir(dir);
    await expect(emptyDataDir(dir, [])).rejects.toMatchObject({ code: 'not_ours' });
    await access(join(dir, 'thesis.tex'));
  });
});

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
