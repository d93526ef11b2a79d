import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compareOutput, stepsOf } from '../../support/documents/examples.ts';
import {
  cloneWorkTree,
  type DevProcess,
  freePorts,
  plainEnvironment,
  startDev,
} from '../../support/processes/dev-process.ts';
import { processTree, untilGone } from '../../support/processes/index.ts';
import { until } from '../../support/until.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const CLONES = /^git clone <this repository> millrace && cd millrace$/;
const STARTS = /^npm run dev$/;
const START_MS = 600_000;
const COMMAND_MS = 120_000;

const DOCUMENTS = [
  'README.md',
  ...readdirSync(join(root, 'docs/tutorial')).map((name) => `docs/tutorial/${name}`),
  'docs/how-to/manage-devices.md',
].filter((file) => stepsOf(read(file)).length > 0);

let clone: Awaited<ReturnType<typeof cloneWorkTree>>;
let ports: Awaited<ReturnType<typeof freePorts>>;
let dev: DevProcess | null = null;

beforeAll(async () => {
  await makeClone();
  ports = await freePorts();
});

afterAll(async () => {
  if (dev) await stop(dev);
  await clone?.remove();
});

/** Replaces the clone, so a document that begins with one has neither data nor changes of the documents before it. */
async function makeClone() {
  if (dev) await stop(dev);
  await clone?.remove();
  clone = await cloneWorkTree();
  // dev.test.ts shows that a clone installs its packages and jars. This test links to existing ones.
  symlinkSync(join(root, 'node_modules'), join(clone.folder, 'node_modules'));
}

/** Starts `npm run dev` as a reader does in the first terminal, and stops a running one first. */
async function start() {
  if (dev) await stop(dev);
  const started = startDev(clone.folder, ports, ['--no-manual']);
  dev = started;
  await started.until(async () => started.output().includes('--seed 1'));
  // The search index of the manual takes longer than all other steps; test:browser builds and reads it.
  const manual = `http://127.0.0.1:${ports.HTTP_PORT}/docs/`;
  return withoutProgress(started.output()).replace('not built (--no-manual)', manual);
}

/**
 * Removes what a terminal overwrites. Without a terminal, a slow step prints its progress as lines between the steps.
 * @param output of a start
 */
const withoutProgress = (output: string) => output.replaceAll(/^(?!✓).*\n(?=(?:(?!✓).*\n)*✓)/gm, '');

/** @returns its output after Ctrl-C */
async function stop(running: DevProcess): Promise<string> {
  dev = null;
  const before = running.output().length;
  const tree = await processTree(running.pid);
  if (tree.length > 0) running.signalGroup('SIGINT');
  for (const left of await untilGone(tree)) process.kill(left.pid, 'SIGKILL');
  return running.output().slice(before);
}

/** @param text with the default ports */
const withPorts = (text: string) =>
  text
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.HTTP_PORT}`)
    .replaceAll('127.0.0.1:1883', `127.0.0.1:${ports.MQTT_PORT}`)
    .replaceAll('127.0.0.1:9042', `127.0.0.1:${ports.CQL_LOCAL_PORT}`)
    .replaceAll(/\bmosquitto_(pub|sub) /g, `mosquitto_$1 -p ${ports.MQTT_PORT} `);

/**
 * Runs a program of a tutorial, which goes on until Ctrl-C.
 * @param expected Ctrl-C follows these lines
 * @returns its output
 */
async function runUntil(command: string, expected: string[]): Promise<string> {
  const env = plainEnvironment();
  const child = spawn('bash', ['-c', command], { cwd: clone.folder, env, detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const closed = once(child, 'close');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => hasEnded() || isAsExpected(output, expected), { withinMs: COMMAND_MS }).catch(() => {});
  if (!hasEnded()) process.kill(-Number(child.pid), 'SIGINT');
  await closed;
  return output;
}

function isAsExpected(output: string, expected: string[]): boolean {
  try {
    compareOutput(output, expected);
    return true;
  } catch {
    return false; // More may come. The test reports what differs.
  }
}

/** @param expected lines @returns its output */
async function type(command: string, expected: string[]): Promise<string> {
  if (CLONES.test(command)) {
    await makeClone();
    return '';
  }
  if (STARTS.test(command)) return start();
  if (!dev) await start();
  if (/^node /.test(command)) return runUntil(command, expected);
  const args = ['-euo', 'pipefail', '-c', command];
  const options = { cwd: clone.folder, env: plainEnvironment(), timeout: COMMAND_MS };
  const { stdout, stderr } = await run('bash', args, options);
  return stdout + stderr;
}

describe.each(DOCUMENTS)('%s', (file) => {
  /** Ids of this run by those in the document. */
  const ids: Map<string, string> = new Map();

  test.each(stepsOf(read(file)))(
    'Documentation example, line $line: $title: the output is as the document shows',
    async ({ command, stop: lines, file: created, change }) => {
      if (created) {
        mkdirSync(dirname(join(clone.folder, created.path)), { recursive: true });
        writeFileSync(join(clone.folder, created.path), withPorts(created.content));
      }
      if (change) {
        const path = join(clone.folder, change.path);
        const text = readFileSync(path, 'utf8');
        expect(text.split(change.before)).toHaveLength(2);
        writeFileSync(
          path,
          text.replace(change.before, () => change.after),
        );
      }
      if (lines) compareOutput(await stop(dev as DevProcess), lines.map(withPorts));
      if (command) {
        let typed = withPorts(command.text);
        for (const [documented, actual] of ids) typed = typed.replaceAll(documented, actual);
        const expected = command.expected.map(withPorts);
        const compared = compareOutput(await type(typed, expected), expected);
        for (const [documented, actual] of compared.ids) ids.set(documented, actual);
      }
    },
    START_MS,
  );
});
