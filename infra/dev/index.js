/**
 * `npm run dev`, stage one: works in a fresh clone, so nothing here imports a package. It installs the packages, then
 * loads the rest.
 */
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../common/errors.js';
import { parseFlags } from '../../common/flags.js';
import { createStatusLine } from '../../common/status-line.js';
import { checkNode, ensurePackages } from '../bootstrap/index.js';
import { DEV_FLAGS } from './flags.js';
import { listenForStop } from './signals.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
// `.env` and a relative DATA_DIR belong to the repository, wherever this was typed.
process.chdir(root);

const line = createStatusLine(process.stdout);
const { stop, onKill } = listenForStop(line);

try {
  checkNode();
  const flags = parseFlags('npm run dev --', DEV_FLAGS, process.argv.slice(2));
  if (await ensurePackages(root, { onStatus: line.update, signal: stop })) {
    line.clear();
    line.print('✓ npm packages installed');
  }
  const { runDev } = await import('./main.js');
  await runDev({ flags, root, line, stop, onKill });
} catch (error) {
  process.exitCode = report(error);
}
// Every part has been stopped by now; a handle that some library left open must not keep the terminal.
process.exit();

/** @param {unknown} error @returns {number} exit code */
function report(error) {
  line.clear();
  // Interrupted while packages were installed: nothing runs yet.
  if (stop.aborted && error instanceof Error && error.name === 'AbortError') return 0;
  if (!(error instanceof MillraceError)) {
    console.error(error);
    return 1;
  }
  console.error(error.exitCode === 0 ? error.message : `\n✗ ${error.message}`);
  return error.exitCode;
}
