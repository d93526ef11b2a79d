/**
 * `npm run dev`, stage one: works in a fresh clone, so nothing here imports a package. It installs the packages, then
 * loads the rest.
 */
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../common/errors.js';
import { createStatusLine } from '../../common/status-line.js';
import { checkNode, ensurePackages } from '../bootstrap/index.js';
import { listenForStop } from './signals.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
// `.env` and a relative DATA_DIR belong to the repository, wherever this was typed.
process.chdir(root);

const line = createStatusLine(process.stdout);
const { stop, onKill } = listenForStop(line);

try {
  checkNode();
  if (await ensurePackages(root, { onStatus: line.update, signal: stop })) {
    line.clear();
    line.print('✓ npm packages installed');
  }
  // The flags are read only now, since commander is a package too.
  const { readFlags } = await import('./flags.js');
  const flags = readFlags(process.argv.slice(2));
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
  if (error.exitCode === 0) console.log(error.message);
  else console.error(error.message.startsWith('error: ') ? error.message : `\n✗ ${error.message}`);
  return error.exitCode;
}
