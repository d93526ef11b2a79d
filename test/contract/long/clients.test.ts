import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ensurePackages } from '../../../infra/bootstrap/index.ts';
import { ensureReaders } from '../../../infra/python/ensure.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';

const run = promisify(execFile);
const INSTALLS_MS = 300_000;
const TOKEN = 'a token of at least 16 characters';

const inFolder = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const TYPESCRIPT = inFolder('../../../clients/typescript');
const { scripts: SCRIPTS }: { scripts: Record<'types' | 'build', string> } = JSON.parse(
  readFileSync(join(TYPESCRIPT, 'package.json'), 'utf8'),
);
const HOW_TO = readFileSync(inFolder('../../../docs/how-to/generate-a-client.md'), 'utf8');
/** The address of the how-to page. */
const SHOWN_URL = 'http://127.0.0.1:8080';

let cwd = '';
let env: NodeJS.ProcessEnv;
let system: TestSystem;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'millrace-clients-'));
  const python = await ensureReaders({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  await ensurePackages(TYPESCRIPT, { onStatus: () => {} });
  const programs = [dirname(python.program('python')), join(TYPESCRIPT, 'node_modules/.bin')];
  env = { ...process.env, PATH: [...programs, process.env['PATH']].join(':') };
  system = await startTestSystem({ settings: { API_TOKEN: TOKEN } });
}, INSTALLS_MS);
afterAll(async () => {
  await system?.stop();
  if (cwd) rmSync(cwd, { recursive: true, force: true });
});

async function output(program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, args, { cwd, env, maxBuffer: 2 ** 26 });
    return stdout + stderr;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

/** @returns the arguments of its first command of the how-to page */
function shownArguments(program: string): string[] {
  const [, line = ''] = new RegExp(`^ +(?:\\$ )?(?:npx )?${program} (.+)$`, 'm').exec(HOW_TO) ?? [];
  return String(line.split(' && ', 1)[0]).replaceAll(SHOWN_URL, system.httpUrl).split(' ');
}

const sourceOf = (path: string) => readFileSync(inFolder(path), 'utf8');

/**
 * Compiles programs with the flags of the example.
 * @param sources by file name
 * @returns what the compiler reports
 */
async function compile(sources: Record<string, string>): Promise<string> {
  for (const [name, source] of Object.entries(sources)) {
    const text = source.replaceAll("'URL'", `'${system.httpUrl}'`).replaceAll(/\bTOKEN\b/g, TOKEN);
    writeFileSync(join(cwd, name), text);
  }
  const flags = SCRIPTS.build.split(' ').slice(1, -1);
  return await output('tsc', '--pretty', 'false', ...flags, ...Object.keys(sources)).catch(String);
}

function checkResult(result: { start: string }, device: string) {
  const start = Date.parse(result.start);
  const time = (minute: number) => new Date(start + minute * 60_000).toISOString();
  expect(result).toMatchObject({
    posted: {
      object: { accepted: 1 },
      array: { accepted: 2 },
      senml: { accepted: 1 },
      refused: { code: 'refused', status: 422, accepted: 0, refused: [{ index: 0, code: 'bad_timestamp' }] },
    },
    devices: expect.arrayContaining([device]),
    page: [23.5, 22.5, 21.5],
    csv: `ts,value\n${time(0)},20.5\n${time(1)},21.5\n${time(2)},22.5\n${time(3)},23.5\n`,
    latest: [['temperature', 23.5]],
    series: [{ min: 20.5, max: 23.5, avg: 22, count: 4 }],
  });
}

test('openapi-python-client: generated client: every function can be imported, and posted measurements are read back unchanged', async () => {
  const generated = await output('openapi-python-client', ...shownArguments('openapi-python-client'));
  // The generator knows no CBOR, no Parquet and no bodies of text. Everything else is in the client.
  expect(generated.match(/^WARNING .*|^Unsupported .*|^ERROR .*/gm)).toEqual([
    'WARNING parsing GET /api/v1/devices/{device}/export within measurements.',
    'WARNING parsing GET /api/v1/export within measurements.',
    'WARNING parsing GET /api/v1/changes within measurements.',
    'WARNING parsing POST /api/v1/measurements within measurements.',
    'Unsupported content type application/senml+cbor',
    'WARNING parsing POST /api/v1/import within measurements. Endpoint will not be generated.',
    'Unsupported content type text/csv',
    'Unsupported content type application/x-ndjson',
    'Unsupported content type application/vnd.apache.parquet',
    'WARNING parsing POST /api/v2/write within line_protocol. Endpoint will not be generated.',
    'Unsupported content type text/plain',
    'WARNING parsing POST /write within line_protocol. Endpoint will not be generated.',
    'Unsupported content type text/plain',
  ]);
  const result = JSON.parse(
    await output('python', inFolder('clients/use_client.py'), cwd, system.httpUrl, TOKEN),
  );
  checkResult(result, 'python');
  const { paths } = await (await fetch(`${system.httpUrl}/openapi.json`)).json();
  const operations = Object.values<Record<string, { tags: string[] }>>(paths).flatMap((methods) =>
    Object.values(methods),
  );
  const tags = new Set(operations.flatMap((operation) => operation.tags));
  // The generator leaves out three operations. The modules of tags count, even if they are empty.
  expect(result.modules).toBe(operations.length - 3 + tags.size);
  expect(result.missing).toMatchObject({ code: 'not_found', status: 404 });
  expect(result.ndjson).toMatch(/^(\{"ts":"[^"]+","value":[\d.]+\}\n){4}$/);
});

describe('openapi-typescript', () => {
  let report = '';
  beforeAll(async () => {
    symlinkSync(join(TYPESCRIPT, 'node_modules'), join(cwd, 'node_modules'));
    copyFileSync(join(TYPESCRIPT, 'package.json'), join(cwd, 'package.json'));
    const [program = '', ...args] = SCRIPTS.types
      .replace(/\$\{MILLRACE_URL:-[^}]+\}/, system.httpUrl)
      .split(' ');
    await output(program, ...args);
    // One run for all programs, because the compiler takes seconds.
    report = await compile({
      'use-client.ts': sourceOf('clients/use-client.ts'),
      'misspelled.ts': sourceOf('clients/misspelled.ts'),
      'query.ts': sourceOf('../../../clients/typescript/query.ts'),
    });
  });

  test('openapi-typescript: generated types: the TypeScript compiler refuses each line with a misspelled name, and no other line', () => {
    const refused = [...report.matchAll(/^([\w.-]+)\((\d+),\d+\): error/gm)].map(
      ([, file, line]) => `${file}:${line}`,
    );
    const lines = sourceOf('clients/misspelled.ts').trimEnd().split('\n');
    const first = lines.indexOf('// Wrong from here on.') + 1;
    const wrong = lines.slice(first).map((_, index) => `misspelled.ts:${first + index + 1}`);
    expect([...new Set(refused)].sort()).toEqual(wrong.sort());
  });

  test('openapi-typescript: program with the generated types: posted measurements are read back unchanged', async () => {
    const result = JSON.parse(await output('node', 'use-client.js'));
    checkResult(result, 'typescript');
    expect(result.missing).toBe('not_found');
  });

  test('Example clients/typescript: a device has samples: the program prints the warmest hour', async () => {
    env = { ...env, MILLRACE_URL: system.httpUrl, MILLRACE_TOKEN: TOKEN };
    expect(await output('node', 'query.js')).toMatch(/^typescript \S+Z 22$/m);
  });
});
