/**
 * `npm run test:nodes`: runs the unit tests on the oldest and the newest Node.js that Millrace is tested on. Exit code 1 when they fail on
 * any.
 */
import { spawnSync } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import type { CommandLine, Flag } from '../../common/flags.ts';
import { ensurePackages } from '../../infra/bootstrap/index.ts';
import { installNode } from '../../infra/first-stage.js';
import { testedVersions } from './versions.ts';

const FLAGS = {
  all: { type: 'switch', help: 'the whole `npm test`' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:nodes --',
  help: 'Runs the unit tests on the oldest and the newest Node.js that Millrace is tested on, or on others. Words after a further -- go to jest.',
  examples: ['npm run test:nodes', 'npm run test:nodes -- 22.18.0 -- test/unit/common/flags.test.ts'],
  words: { usage: '[VERSION...]', rule: 'versions such as 22.18.0', least: 0, most: 20 },
  flags: FLAGS,
};

await runCommand(async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  process.chdir(root);
  await ensurePackages(root, { onStatus: console.error });
  // Imported here, because it needs the packages.
  const { parseLine, usageError } = await import('../../common/flags.ts');
  const argv = process.argv.slice(2);
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  const { flags, words: versions } = parseLine(LINE, argv.slice(0, end));
  const wrong = versions.filter((word) => !/^\d+\.\d+\.\d+$/.test(word));
  if (wrong.length > 0) throw usageError(LINE.command, [`no version: ${wrong.join(', ')}`]);
  const args = ['test/run.ts', ...(flags.all ? [] : ['--unit']), ...argv.slice(end + 1)];
  for (const version of versions.length > 0 ? versions : testedVersions()) {
    const node = version === process.versions.node ? process.execPath : installNode(version);
    // Tests start `node` and `npm` by name. So the folder of this Node.js is the first in PATH.
    const PATH = [dirname(node), process.env['PATH']].join(delimiter);
    const { status, signal } = spawnSync(node, args, { stdio: 'inherit', env: { ...process.env, PATH } });
    console.error(
      `Node.js ${version}: ${status === 0 ? 'passed' : `FAILED, ${signal ?? `exit code ${status}`}`}`,
    );
    if (signal) process.exit(1);
    if (status !== 0) process.exitCode = 1;
  }
});
