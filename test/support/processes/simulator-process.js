import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';

/** @import { Readable } from 'node:stream' */

/**
 * Starts `npm run simulator` as a separate process.
 *
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [environment] in addition to PATH
 */
export function startSimulator(args, environment = {}) {
  const child = spawn(process.execPath, ['simulator/index.js', ...args], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  // Not `close`, which never comes when the parent disconnects the channel.
  const ended = Promise.all([once(child, 'exit'), ...[child.stdout, child.stderr].map(ending)]).then(
    ([[code]]) => ({ code, output, summary: readSummary(output) }),
  );
  return {
    child,
    output: () => output,
    /** Exit code, output, and the figures of the summary. */
    ended,
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}

/** @param {Readable | null} stream */
const ending = (stream) => (stream ? finished(stream) : Promise.resolve());

/** @param {string} output */
function readSummary(output) {
  const found =
    /([\d,]+) samples made, ([\d,]+) acknowledged, ([\d,]+) dropped, ([\d,]+) left unacknowledged/.exec(
      output,
    );
  if (!found) return null;
  const [made, acknowledged, dropped, left] = found.slice(1).map((text) => Number(text.replaceAll(',', '')));
  return { made, acknowledged, dropped, left };
}
