import { runCommand } from '../../common/command.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../../common/flags.ts';
import type { BenchFlags } from './environment/index.ts';
import type { Pipeline } from './environment/pipeline.ts';
import { loadOf, SHAPES, shapeOf } from './load/shapes.ts';
import { measureRate } from './measure/rate.ts';
import { PARTS, targetsTable } from './parts/index.ts';
import { textTable } from './report/table.ts';
import { runSession } from './session.ts';

const NAMES = PARTS.map(({ name }) => name);

const FLAGS = {
  only: { type: 'text', help: `parts to run, comma-separated: ${NAMES.join(',')}` },
  shapes: { type: 'text', help: 'loads, sensors x samples a message, @ devices', fallback: SHAPES.join(',') },
  rounds: { type: 'integer', help: 'how often each comparison is run', fallback: 3, min: 1 },
  run: { type: 'duration', help: 'one run of a comparison, or the soak', fallback: 4000, min: 500 },
  rate: { type: 'number', help: 'of the soak, in samples/s (default: half of the highest rate)', min: 1 },
  quick: { type: 'switch', help: 'one round of the same measurements, in seven minutes' },
} satisfies Record<string, Flag>;

const COMMAND = 'npm run bench --';

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: 'Measures everything side by side on this machine, prints the tables and keeps the raw figures in a file.',
  examples: [`${COMMAND} --quick`, `${COMMAND} --only ${NAMES[0]} --rounds 5`],
  flags: FLAGS,
  settings: ['DATA_DIR'],
};

// npm run bench: measures all parts on this machine, prints their tables, and writes the raw figures to a file.
//
// A run needs these folders, in the order of their use:
// - parts/        the measurements: each part runs its variants and has its tables and targets
// - environment/  database, brokers and processes that a part gets
// - process/      starts child processes and sends them requests
// - load/         shapes, payloads and times of what devices send; publisher/ sends it
// - variants/     ingest with one row per sample
// - measure/      rates, rounds, reads, CPU and memory
// - loader/       months of data, also for npm run load
// - peers/        Telegraf with QuestDB
// - report/       tables; documents.ts and readme.ts write the pages
await runCommand(async () => {
  const { only, ...flags } = readFlags(process.argv.slice(2));
  const parts = PARTS.filter(({ name }) => only.includes(name));
  const needsDashboard = parts.some((part) => part.needsDashboard);
  await runSession({ flags: { only, ...flags }, needsDashboard }, async (session) => {
    const { environment, results, status, print } = session;
    const variants = parts.some(({ onRequest }) => !onRequest) ? [await environment.pipeline('packed')] : [];
    if (parts.some(({ hasRows }) => hasRows))
      variants.push(await environment.pipeline('rows', { rows: true }));
    await warm(variants, { database: environment.database.pid, forMs: flags.bootMs, onStatus: status });
    for (const part of parts) {
      const onStatus = (text: string) => status(`${part.name}: ${text}`);
      const result = await part.run({ environment, flags, status: onStatus });
      results[part.name] = result;
      print(`\n${part.title}\n`);
      for (const { head, rows } of part.tables(result)) print(`${textTable(head, rows)}\n`);
    }
    const { head, rows } = targetsTable(results);
    if (rows.length > 0) print(`\nTargets\n\n${textTable(head, rows)}\n`);
  });
});

function readFlags(argv: string[]): BenchFlags & { only: string[] } {
  const { only, shapes, rounds, run, rate, quick } = parseFlags(LINE, argv);
  const usual = PARTS.filter(({ onRequest }) => !onRequest).map(({ name }) => name);
  const chosen = only === undefined ? usual : only.split(',');
  const loads = shapes.split(',');
  const problems = [
    ...chosen.filter((name) => !NAMES.includes(name)).map((name) => `--only: no part is called ${name}`),
    ...loads.filter((load) => !shapeOf(load)).map((load) => `--shapes: ${load} is no load such as 4x10`),
  ];
  if (problems.length > 0) throw usageError(COMMAND, problems);
  return {
    only: chosen,
    shapes: loads,
    rounds: quick ? 1 : rounds,
    runMs: run,
    ...(rate !== undefined && { rate }),
    warmMs: quick ? 2500 : 1500,
    bootMs: quick ? 10_000 : 40_000,
  };
}

/** A fresh JVM is 3 to 8 times slower, so the first variant would look slow. */
async function warm(
  variants: Pipeline[],
  { database, forMs, onStatus }: { database: number; forMs: number; onStatus: (text: string) => void },
) {
  const loads = ['1x60', '1x1'];
  const timing = { database, warmMs: forMs / 4, forMs: 100 };
  for (const load of loads) {
    for (const variant of variants) {
      onStatus(`warming the database: ${variant.name}, ${load}`);
      await measureRate(variant, loadOf(load), timing);
    }
  }
}
