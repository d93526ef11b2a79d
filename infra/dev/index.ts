/**
 * `npm run dev`, stage one. It works in a fresh clone, so this file imports no package. It installs the packages, and then loads stage two,
 * main.ts.
 */
import { fileURLToPath } from 'node:url';
import { MillraceError } from '../../common/errors.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { listenForStop } from '../../common/stop-signal.ts';
import { ensurePackages } from '../bootstrap/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// `.env` and a relative DATA_DIR are relative to the repository, from whatever directory the command was started.
process.chdir(root);

const line = createStatusLine(process.stdout);
const stopping = new AbortController();
const { signal: stop } = stopping;
const kills: Array<() => void> = [line.clear];
listenForStop(
  () => stopping.abort(),
  () => {
    for (const kill of kills) kill();
  },
);

try {
  if (await ensurePackages(root, { onStatus: line.update, signal: stop })) {
    line.clear();
    line.print('✓ npm packages installed');
  }
  // The flags are read only after the installation of the packages, because flags.ts needs the package commander.
  const { readFlags } = await import('./flags.ts');
  const flags = readFlags(process.argv.slice(2));
  const { runDev } = await import('./main.ts');
  await runDev({ flags, root, line, stop, kills });
} catch (error) {
  process.exitCode = report(error);
}
// All processes have stopped. A handle that a library left open must not keep this process running.
process.exit();

/** @returns exit code */
function report(error: unknown): number {
  line.clear();
  // A person interrupted the installation of the packages. No other process runs yet, so this is no error.
  if (stop.aborted && error instanceof Error && error.name === 'AbortError') return 0;
  if (!(error instanceof MillraceError)) {
    console.error(error);
    return 1;
  }
  if (error.exitCode === 0) console.log(error.message);
  else console.error(error.message.startsWith('error: ') ? error.message : `\n✗ ${error.message}`);
  return error.exitCode;
}
