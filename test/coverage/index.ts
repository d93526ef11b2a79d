/**
 * `npm run test:coverage`: prints how many lines of each folder the unit tests execute, and enforces nothing. `-- --files` prints each file.
 * Jest's own V8 coverage converts every module for every test file, which takes ten minutes instead of one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import type { CommandLine, Flag } from '../../common/flags.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { ensurePackages } from '../../infra/bootstrap/index.ts';

/** The folders of the application and its commands. */
const FOLDERS = ['api', 'common', 'schema', 'simulator', 'tools/sizing'];

const FLAGS = {
  files: { type: 'switch', help: 'a row for each file, not only for each folder' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:coverage --',
  help: 'Prints how many lines of each folder the unit tests execute.',
  examples: ['npm run test:coverage', 'npm run test:coverage -- --files'],
  flags: FLAGS,
};

await runCommand(async () => {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const line = createStatusLine(process.stderr);
  await ensurePackages(process.cwd(), { onStatus: line.update });
  // Imported here, because it needs the packages.
  const { parseFlags } = await import('../../common/flags.ts');
  const flags = parseFlags(LINE, process.argv.slice(2));
  const { withCoverage } = await import('./executed.ts');
  const { linesOf } = await import('./lines.ts');
  const { runTests } = await import('../mutation/runner/child.ts');
  const { Workspace } = await import('../mutation/workspace.ts');

  const sources = FOLDERS.flatMap(filesIn);
  const tests = filesIn('test/unit').filter((file) => /\.test\.[jt]s$/.test(file));
  line.update(`Coverage: ${tests.length} test files`);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => stop.abort(new MillraceError('usage', 'Stopped.')));
  const workspace = await Workspace.create();
  try {
    const { directory } = workspace;
    const { result, coverage } = await withCoverage({ directory, files: new Set(sources) }, (env) =>
      runTests(tests, { directory, env, signal: stop.signal }),
    );
    line.clear();
    if (result.end !== 'passed')
      throw new MillraceError('usage', `${result.file}: ${result.title}: ${result.error}`);
    const rows: Map<string, { lines: number; executed: number }> = new Map();
    for (const file of sources) {
      const counts = linesOf(readFileSync(file, 'utf8'), coverage[file]);
      for (const name of [flags.files ? file : dirname(file), 'all']) {
        const row = rows.get(name) ?? { lines: 0, executed: 0 };
        rows.set(name, { lines: row.lines + counts.lines, executed: row.executed + counts.executed });
      }
    }
    const all = rows.get('all');
    rows.delete('all');
    for (const [name, counts] of rows) print(name, counts);
    if (all) print('all', all);
  } finally {
    await workspace.remove();
  }
});

/** @returns its source files */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => /\.[jt]s$/.test(file))
    .sort();
}

function print(name: string, { lines, executed }: { lines: number; executed: number }) {
  const share = lines === 0 ? 100 : (100 * executed) / lines;
  console.log(`${share.toFixed(1).padStart(6)} %  ${`${executed}/${lines}`.padStart(12)}  ${name}`);
}
