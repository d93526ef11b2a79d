import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cloneWorkTree, freePorts, plainEnvironment, startDev } from '../support/dev-process.js';
import { compareOutput, examplesOf } from '../support/examples.js';
import { processTree, untilGone } from '../support/processes.js';

/** @import { DevProcess } from '../support/dev-process.js' */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');

const STARTS = /^(?:git clone .* && )?npm run dev$/;
const START_MS = 300_000;
const COMMAND_MS = 60_000;

/** The README first, since its quick start is the installation in which all other examples run. */
const DOCUMENTS = [
  'README.md',
  ...readdirSync(join(root, 'docs/tutorial'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/tutorial/${name}`),
].filter((file) => examplesOf(read(file)).length > 0);

/** @type {Awaited<ReturnType<typeof cloneWorkTree>>} */
let clone;
/** @type {Awaited<ReturnType<typeof freePorts>>} */
let ports;
/** @type {DevProcess} */
let dev;

beforeAll(async () => {
  clone = await cloneWorkTree();
  // dev.test.js shows that a clone installs its packages and jars. Here they are only needed.
  symlinkSync(join(root, 'node_modules'), join(clone.folder, 'node_modules'));
  ports = await freePorts();
  dev = startDev(clone.folder, ports, ['--no-manual']);
  await dev.until(async () => dev.output().includes('--seed 1'));
}, START_MS);

afterAll(async () => {
  if (dev) {
    const tree = await processTree(dev.pid);
    if (tree.length > 0) dev.signalGroup('SIGTERM');
    for (const left of await untilGone(tree, { withinMs: 20_000 })) process.kill(left.pid, 'SIGKILL');
  }
  await clone?.remove();
});

/** @param {string} text with the default ports */
const withPorts = (text) =>
  text
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.HTTP_PORT}`)
    .replaceAll('127.0.0.1:1883', `127.0.0.1:${ports.MQTT_PORT}`)
    .replaceAll('127.0.0.1:9042', `127.0.0.1:${ports.CQL_LOCAL_PORT}`)
    .replaceAll(/\bmosquitto_(pub|sub) /g, `mosquitto_$1 -p ${ports.MQTT_PORT} `);

describe.each(DOCUMENTS)('%s', (file) => {
  /** Ids of this run by those in the document. @type {Map<string, string>} */
  const ids = new Map();

  test.each(examplesOf(read(file)))('line $line: $command: the output that the document shows', async ({
    command,
    expected,
  }) => {
    const here = expected.map(withPorts);
    if (STARTS.test(command)) {
      expect(() => compareOutput(dev.output(), here)).not.toThrow();
      return;
    }
    let typed = withPorts(command);
    for (const [documented, actual] of ids) typed = typed.replaceAll(documented, actual);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', typed], {
      cwd: clone.folder,
      env: plainEnvironment(),
      timeout: COMMAND_MS,
    });
    for (const [documented, actual] of compareOutput(stdout, here).ids) ids.set(documented, actual);
  });
});

test('Examples: a document that shows another output: an error with both texts', () => {
  const [example] = examplesOf('```console\n$ echo one\none\n```');
  expect(() => compareOutput('two', example?.expected ?? [])).toThrow(/expected:\none[^]*was:\ntwo/);
});

test('Examples: a command over several lines, an id, and a gap: read as a person reads them', () => {
  const examples = examplesOf("```console\n$ curl x \\\n    -d '[1,\n    2]'\n{\"id\":\"0a1b2c3d-…\",…}\n$ true\n```");
  expect(examples.map(({ command }) => command)).toEqual(["curl x \\\n    -d '[1,\n    2]'", 'true']);
  const id = '0f0e0d0c-0b0a-4908-8706-050403020100';
  expect(compareOutput(`{"id":"${id}","more":1}`, examples[0]?.expected ?? []).ids).toEqual(
    new Map([['0a1b2c3d-…', id]]),
  );
});
