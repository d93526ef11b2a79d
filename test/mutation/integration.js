import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.js';
import { CONTACT_POINT, startTestEngine } from '../support/database/engine.js';
import { MODULES } from './modules.js';
import { applied } from './mutants.js';
import { Results } from './results.js';
import { killGroup } from './runner/child.js';
import { hash } from './test-files.js';
import { Workspace } from './workspace.js';

/** @import { StatusLine } from '../../common/status-line.js' */
/** @import { Module } from './modules.js' */
/** @import { Entry } from './report.js' */
/** @import { ImportGraph } from './test-files.js' */

/** Limit for the integration tests of a module without a mistake, in ms. */
const LIMIT_MS = 900_000;

/**
 * Tries survivors on the integration tests of their module, with one database for all. Each survivor takes about a minute.
 *
 * @param {Entry[]} survivors their `result` becomes `integration` when a test notices them
 * @param {object} options
 * @param {ImportGraph} options.graph
 * @param {Results} options.results
 * @param {StatusLine} options.line
 * @param {boolean} options.run whether to run tests; otherwise only results of earlier runs count
 * @param {AbortSignal} options.signal
 */
export async function tryIntegrationTests(survivors, { graph, results, line, run, signal }) {
  const candidates = survivors.map((entry) => {
    const { integration } = moduleOf(entry);
    const key = Results.keyOf(readFileSync(entry.mutant.file, 'utf8'), entry.mutant, 'integration');
    return { entry, key, tests: hash(integration.flatMap((file) => [file, graph.hashOf(file)])) };
  });
  const open = candidates.filter(({ entry, key, tests }) => {
    const known = results.get(key);
    if (known?.tests !== tests) return true;
    if (known.killed) entry.result = 'integration';
    return false;
  });
  if (!run || open.length === 0) return;

  const workspace = await Workspace.create({ jest: true });
  const engine = await startTestEngine({ profile: 'disposable', onStatus: line.update });
  try {
    const runFiles = (/** @type {string[]} */ files, /** @type {number} */ limitMs) =>
      jest(files, { directory: workspace.directory, contactPoint: engine.contactPoint, limitMs, signal });
    /** @type {Map<string, number>} */
    const tookMs = new Map();
    for (const [index, { entry, key, tests }] of open.entries()) {
      const { name, integration } = moduleOf(entry);
      line.update(`Mutation: integration tests, ${index + 1} of ${open.length}: ${name}`);
      if (!tookMs.has(name)) {
        const began = performance.now();
        if (!(await runFiles(integration, LIMIT_MS)))
          throw new MillraceError('usage', `The integration tests of ${name} fail without any mistake.`);
        tookMs.set(name, performance.now() - began);
      }
      const text = applied(entry.mutant, readFileSync(entry.mutant.file, 'utf8'));
      const limitMs = 60_000 + 3 * (tookMs.get(name) ?? 0);
      const survived = await workspace.with(entry.mutant.file, text, () => runFiles(integration, limitMs));
      results.set(key, { killed: !survived, tests });
      if (!survived) entry.result = 'integration';
    }
  } finally {
    await engine.dispose();
    await workspace.remove();
  }
}

/** @param {Entry} entry */
const moduleOf = ({ module }) => /** @type {Module} */ (MODULES.find(({ name }) => name === module));

/**
 * @param {string[]} files
 * @param {{ directory: string, contactPoint: string, limitMs: number, signal: AbortSignal }} options
 * @returns {Promise<boolean>} whether all passed within the limit
 */
function jest(files, { directory, contactPoint, limitMs, signal }) {
  const args = ['--config', 'test/mutation/jest.config.js', '--runInBand', '--bail', '--forceExit', ...files];
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], {
    cwd: directory,
    env: {
      ...process.env,
      NODE_OPTIONS: '--experimental-vm-modules',
      [CONTACT_POINT]: contactPoint,
    },
    stdio: 'ignore',
    detached: true,
  });
  const end = () => killGroup(child.pid);
  const timer = setTimeout(end, limitMs);
  signal.addEventListener('abort', end, { once: true });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      end();
      if (signal.aborted) reject(signal.reason);
      else resolve(code === 0);
    });
  });
}
