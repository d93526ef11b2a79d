/**
 * `npm run test:flaky -- FILE --times 20`: repeats one test file while other work keeps the processors busy. Prints each result, and
 * keeps the output of runs that failed under `.data/flaky`. Exit code 1 when any run failed.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import type { CommandLine, Flag } from '../../common/flags.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { ensurePackages } from '../../infra/bootstrap/index.ts';
import { SUITES } from '../suites.ts';
import { startLoad } from './load.ts';

const LOGS = '.data/flaky';

/** More threads find no further failures. */
const MAX_LOAD = 4 * availableParallelism();

const FLAGS = {
  times: { type: 'integer', help: 'how often the file runs', min: 1, fallback: 20 },
  load: { type: 'integer', help: `busy threads during the runs, at most ${MAX_LOAD}`, min: 0, fallback: 2 },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:flaky --',
  help: 'Repeats one test file while other work keeps the processors busy, and prints each result.',
  examples: ['npm run test:flaky -- test/unit/common/flags.test.ts --times 50'],
  words: { usage: 'FILE', rule: 'one test file', least: 1, most: 1 },
  flags: FLAGS,
};

await runCommand(async () => {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const line = createStatusLine(process.stderr);
  await ensurePackages(process.cwd(), { onStatus: line.update });
  line.clear();
  // Imported here, because it needs the packages.
  const { parseLine, usageError } = await import('../../common/flags.ts');
  const {
    words: [file = ''],
    flags: { times, load },
  } = parseLine(LINE, process.argv.slice(2));
  if (!/\.test\.[jt]s$/.test(file) || !existsSync(file))
    throw usageError(LINE.command, [`"${file}" is not a test file`]);
  const stopLoad = startLoad(Math.min(load, MAX_LOAD));
  let failed = 0;
  try {
    for (let run = 1; run <= times; run++) {
      line.update(`${file}: run ${run} of ${times}, ${failed} failed`);
      const began = performance.now();
      const { code, output, stoppedBy } = await runOnce(file);
      if (stoppedBy) throw new MillraceError('usage', `Stopped by ${stoppedBy} in run ${run}.`);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      if (code !== 0) failed++;
      const log = code === 0 ? '' : `, output in ${await saveOutput(file, run, output)}`;
      line.print(`run ${run} of ${times}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s${log}`);
    }
  } finally {
    line.clear();
    await stopLoad();
  }
  line.print(`${file}: ${times - failed} of ${times} runs passed.`);
  process.exitCode = failed > 0 ? 1 : 0;
});

function runOnce(file: string): Promise<{ code: number; output: string; stoppedBy: string }> {
  const folder = String(file.split('/').at(1));
  // `npm test` runs the folders without a suite of their name.
  const suite = Object.hasOwn(SUITES, folder) ? [`--${folder}`] : [];
  const child = spawn(process.execPath, ['test/run.ts', ...suite, '--ci', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  // A terminal sends Ctrl-C to the tests as well. Other signals reach only this process.
  let stoppedBy = '';
  const forward = (signal: NodeJS.Signals) => {
    stoppedBy = signal;
    child.kill(signal);
  };
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.off(signal, forward);
      resolve({ code: code ?? 1, output, stoppedBy });
    });
  });
}

/** @returns path of the log */
async function saveOutput(file: string, run: number, output: string): Promise<string> {
  await mkdir(LOGS, { recursive: true });
  const path = `${LOGS}/${basename(file).split('.')[0]}-${run}.log`;
  await writeFile(path, output);
  return path;
}
