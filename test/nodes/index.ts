/**
 * `npm run test:nodes`: runs the unit tests on the oldest and the newest Node.js that Millrace is tested on. Exit code 1 when they fail on
 * any.
 *
 * - `npm run test:nodes -- 22.18.0 -- test/unit/common/flags.test.ts`: another version, and arguments for jest.
 * - `npm run test:nodes -- --all`: the whole `npm test`.
 */
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import type { CommandLine, Flag } from '../../common/flags.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { ensurePackages } from '../../infra/bootstrap/index.ts';
import { installNode } from '../../infra/first-stage.js';
import { testedVersions } from './versions.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const FLAGS = {
  all: { type: 'switch', help: 'the whole of npm test instead of the unit tests' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:nodes --',
  help: 'Runs the unit tests on the oldest and the newest accepted Node.js, or on those named. Words after -- go to jest.',
  examples: ['npm run test:nodes', 'npm run test:nodes -- 22.18.0 24.21.0 -- test/unit/common/flags.test.ts'],
  words: { usage: '[VERSION...]', rule: 'versions of Node.js', least: 0, most: 20 },
  flags: FLAGS,
};

await runCommand(async () => {
  process.chdir(root);
  const line = createStatusLine(process.stderr);
  await ensurePackages(root, { onStatus: line.update });
  // Imported here, because it needs the packages.
  const { parseLine, usageError } = await import('../../common/flags.ts');
  const argv = process.argv.slice(2);
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const { words, flags } = parseLine(LINE, argv.slice(0, end));
  const wrong = words.filter((word) => !/^\d+\.\d+\.\d+$/.test(word));
  if (wrong.length > 0)
    throw usageError(
      LINE.command,
      wrong.map((word) => `"${word}" is not a version such as 24.21.0`),
    );
  line.clear();
  const testArgs = [...(flags.all ? [] : ['--unit']), ...argv.slice(end + 1)];
  const results = [];
  for (const version of words.length > 0 ? words : testedVersions()) {
    const node = version === process.versions.node ? process.execPath : installNode(version);
    console.error(`Node.js ${version}`);
    results.push({ version, code: await runTests(node, testArgs) });
  }
  for (const { version, code } of results)
    console.error(`Node.js ${version}: ${code === 0 ? 'passed' : `FAILED, exit code ${code}`}`);
  process.exitCode = results.some(({ code }) => code !== 0) ? 1 : 0;
});

/**
 * Runs `test/run.ts` with a given program of Node.js, and forwards signals to the run.
 * @param node path of the program
 * @param args of `test/run.ts`
 * @returns exit code of the run
 * @throws `usage`: a signal stopped the run
 */
function runTests(node: string, args: string[]): Promise<number> {
  // Tests start `node` and `npm` by name. So the folder of this Node.js is the first in PATH.
  const path = [dirname(node), process.env['PATH']].join(delimiter);
  const child = spawn(node, ['test/run.ts', ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  let stoppedBy = '';
  const forward = (signal: NodeJS.Signals) => {
    stoppedBy = signal;
    // A terminal sends Ctrl-C to the tests as well.
    if (signal !== 'SIGINT') child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of SIGNALS) process.off(signal, forward);
      if (stoppedBy) reject(new MillraceError('usage', `Stopped by ${stoppedBy}.`));
      else resolve(code ?? 1);
    });
  });
}
