import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import type { CommandLine, Flag } from '../../common/flags.ts';
import { createStatusLine } from '../../common/status-line.ts';
import { abortOnStop } from '../../common/stop-signal.ts';
import { ensurePackages } from '../../infra/bootstrap/index.ts';

const FLAGS = {
  workers: {
    type: 'integer',
    help: 'mistakes at a time',
    min: 1,
    fallback: Math.min(4, availableParallelism()),
  },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:mutation --',
  help: 'Puts one known mistake at a time into a copy of the sources, and names those that their test does not notice.',
  examples: ['npm run test:mutation', 'npm run test:mutation -- --workers 2'],
  flags: FLAGS,
};

await runCommand(async () => {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const line = createStatusLine(process.stderr);
  await ensurePackages(process.cwd(), { onStatus: line.update });
  // Imported here, because it needs the packages.
  const { parseFlags } = await import('../../common/flags.ts');
  const { workers } = parseFlags(LINE, process.argv.slice(2));
  const { findUnnoticed } = await import('./known-mistakes.ts');
  const { MUST_DIE } = await import('./must-die.ts');
  const options = { workers, onStatus: line.update, signal: abortOnStop() };
  const problems = await findUnnoticed(MUST_DIE, options).finally(line.clear);
  for (const problem of problems) line.print(problem);
  line.print(`Mutation: ${MUST_DIE.length} known mistakes, ${problems.length} problems.`);
  process.exitCode = problems.length > 0 ? 1 : 0;
});
