/**
 * `npm run test:model [CLAUSE...]`: checks the history rule with Spin, without each clause and then whole. Without a clause a reader must
 * give a wrong answer. Exit code 1 when the rule fails, or when it does not need a clause.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../common/command.ts';
import { type CommandLine, type Flag, parseLine, usageError } from '../../common/flags.ts';
import { ensurePackages, ensureTools } from '../../infra/bootstrap/index.ts';
import { check } from './check.ts';
import { CLAUSES, WHOLE } from './clauses.ts';
import { draw } from './drawing.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const IMAGES = join(root, 'docs/images/history-proof');

const FLAGS = {
  draw: { type: 'switch', help: 'writes the counterexamples to docs/images/history-proof' },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm run test:model --',
  help: 'Checks the model of the history rule, whole and without each clause.',
  examples: ['npm run test:model', 'npm run test:model -- MARGIN', 'npm run test:model -- --draw'],
  words: { usage: '[CLAUSE...]', rule: 'clauses of test/model/clauses.ts', least: 0, most: CLAUSES.length },
  flags: FLAGS,
};

await runCommand(async () => {
  const { words, flags } = parseLine(LINE, process.argv.slice(2));
  const chosen = CLAUSES.filter(({ name }) => words.length === 0 || words.includes(name));
  const unknown = words.filter((word) => !CLAUSES.some(({ name }) => name === word));
  if (unknown.length > 0) throw usageError(LINE.command, [`there is no clause ${unknown.join(', ')}`]);
  const onStatus = (text: string) => console.error(text);
  await ensurePackages(root, { onStatus });
  await ensureTools(['spin', 'gcc'], { onStatus });
  let failures = 0;
  for (const { name, rule, system } of chosen) {
    const { counterexample, states, seconds } = await check(name, system);
    report(`without ${name}`, counterexample ? `${counterexample.length} steps` : 'NO COUNTEREXAMPLE', {
      states,
      seconds,
    });
    if (!counterexample) failures++;
    else if (flags.draw) {
      await mkdir(IMAGES, { recursive: true });
      await writeFile(join(IMAGES, `${name.toLowerCase()}.svg`), draw(`Without: ${rule}`, counterexample));
    }
  }
  if (words.length === 0) {
    console.error('the whole rule: takes some minutes');
    const { counterexample, ...counts } = await check(null, WHOLE);
    report('the whole rule', counterexample ? 'FAILS' : 'holds', counts);
    if (counterexample) {
      failures++;
      for (const { actor, text, value } of counterexample) console.error(`  ${actor}: ${text} ${value}`);
    }
  }
  process.exitCode = failures > 0 ? 1 : 0;
});

function report(what: string, result: string, { states, seconds }: { states: number; seconds: number }) {
  console.error(`${what}: ${result} (${states.toLocaleString('en')} states, ${seconds.toFixed(1)} s)`);
}
