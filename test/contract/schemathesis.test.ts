import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensurePython, type PythonTools } from '../../infra/python/ensure.ts';
import { connectDevice } from '../support/mqtt/device.ts';
import { startTestSystem, type TestSystem } from '../support/system/index.ts';

const run = promisify(execFile);
const INSTALLS_MS = 300_000;
const TIMEOUT_MS = 600_000;
const TOKEN = 'a token of at least 16 characters';

const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
/** The hooks that define how bodies without a schema are sent. */
const HOOKS = fileURLToPath(new URL('schemathesis_hooks.py', import.meta.url));

let cwd = '';
let python: PythonTools;
let system: TestSystem;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'millrace-schemathesis-'));
  python = await ensurePython({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  // Schemathesis sends many wrong tokens. The limit of wrong tokens must not apply to it.
  const wrongTokens = { most: 1e6, windowMs: 60_000 };
  system = await startTestSystem({ settings: { API_TOKEN: TOKEN, HTTP_RATE_LIMIT: '100000' }, wrongTokens });
  await fill(system);
}, INSTALLS_MS);
afterAll(async () => {
  await system?.stop();
  if (cwd) rmSync(cwd, { recursive: true, force: true });
});

/** Stores the devices and sensors of the examples of the document, more data around them, and a refused message. */
async function fill(target: TestSystem) {
  const device = await connectDevice(target);
  const now = Date.now();
  for (const name of ['my-desk', 'other']) {
    await device.birth(name, {
      name,
      site: 'home',
      sensors: [{ sensor_id: 'temperature', type: 'temperature', unit: 'Cel', interval_ms: 1000 }],
    });
    await device.status(name, 'online');
    for (const daysAgo of [0, 1, 20]) {
      const start = now - daysAgo * 86_600_000 - 60_000;
      const samples = Array.from({ length: 50 }, (_, index) => ({
        sensor_id: 'temperature',
        ts: start + index * 1000,
        value: index / 7,
      }));
      await device.measure(name, samples);
    }
    await device.publish(`iot/v1/${name}/measurements`, '{"sensor_id":"temperature","value":"warm"}');
    await device.publish(`iot/v1/${name}/measurements`, 'no JSON');
  }
  await device.end();
}

test(
  'HTTP API: Schemathesis sends generated requests: the OpenAPI document describes every answer',
  async () => {
    const args = [
      ...['--config-file', CONFIG, 'run', `${system.httpUrl}/openapi.json`],
      ...['--header', `Authorization: Bearer ${TOKEN}`],
    ];
    const { stdout } = await run(python.program('schemathesis'), args, {
      cwd,
      env: { ...process.env, SCHEMATHESIS_HOOKS: HOOKS },
      maxBuffer: 2 ** 26,
    }).catch(({ stdout, stderr }) => {
      throw new Error(`${stdout}\n${stderr}`);
    });
    expect(stdout).toMatch(/\d+ generated, \d+ passed|No issues found/i);
  },
  TIMEOUT_MS,
);
