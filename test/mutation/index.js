/**
 * `npm run test:mutation`: puts one mistake at a time into a copy of the modules of `modules.js`, and finds the tests that notice it. It
 * continues a stopped run, and writes `test/mutation/results.md`. `-- --help` lists the flags.
 */
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.js';
import { createStatusLine } from '../../common/status-line.js';
import { checkNode, ensurePackages } from '../../infra/bootstrap/index.js';

await runCommand(async () => {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const line = createStatusLine(process.stderr);
  checkNode();
  await ensurePackages(process.cwd(), { onStatus: line.update });
  // Imported here, because it needs the packages.
  const { mutationCommand } = await import('./command.js');
  await mutationCommand(process.argv.slice(2), line);
});
