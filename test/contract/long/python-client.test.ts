import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ensureReaders, type PythonTools } from '../../../infra/python/ensure.ts';
import { startTestSystem, type TestSystem } from '../../support/system/index.ts';

// The package clients/python and its notebook, against a real API.

const run = promisify(execFile);
const INSTALLS_MS = 300_000;
const TOKEN = 'a token of at least 16 characters';
const HOME = fileURLToPath(new URL('../../../clients/python/', import.meta.url));

let python: PythonTools;
let system: TestSystem;

beforeAll(async () => {
  python = await ensureReaders({ dataDir: process.env['DATA_DIR'] ?? '.data', onStatus: () => {} });
  // Not the default unit of numeric times, because the times of the package must not depend on that unit.
  system = await startTestSystem({ settings: { API_TOKEN: TOKEN, TS_UNIT: 's' } });
}, INSTALLS_MS);
afterAll(() => system?.stop());

/** @param args of the interpreter @returns its output; that of a failure is the message of the error */
async function interpret(...args: string[]): Promise<string> {
  const env = {
    ...process.env,
    PYTHONPATH: HOME,
    PYTHONDONTWRITEBYTECODE: '1',
    MILLRACE_URL: system.httpUrl,
    MILLRACE_TOKEN: TOKEN,
    MILLRACE_MQTT_PORT: String(system.mqttPort),
  };
  try {
    return (await run(python.program('python'), args, { cwd: HOME, env, maxBuffer: 2 ** 26 })).stdout;
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout: string; stderr: string };
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  }
}

test('Python client: pytest of the package: all 10 tests pass', async () => {
  const report = await interpret(
    '-m',
    'pytest',
    '-q',
    '-p',
    'no:cacheprovider',
    '-p',
    'no:schemathesis',
    'tests',
  );
  expect(report).toMatch(/^10 passed/m);
});

test('Python notebook first-look: every cell is executed: no cell fails', async () => {
  const program = `
import nbformat, nbclient
notebook = nbformat.read('notebooks/first-look.ipynb', 4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3').execute()
outputs = [output for cell in notebook.cells if cell.cell_type == 'code' for output in cell.outputs]
print(len(outputs), sorted({output.output_type for output in outputs}))
`;
  expect(await interpret('-c', program)).toBe("5 ['execute_result']\n");
});
