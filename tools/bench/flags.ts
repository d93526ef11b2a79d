import { type CommandLine, type Flag, parseFlags, usageError } from '../../common/flags.ts';
import type { BenchFlags } from './environment/index.ts';
import { SHAPES, shapeOf } from './load/shapes.ts';
import { PARTS } from './parts/index.ts';
import type { Class } from './peers/settings.ts';

const CLASSES: Class[] = ['K', 'P'];

const FLAGS = {
  only: { type: 'text', help: `parts to run, comma-separated: ${PARTS.map(({ name }) => name).join(',')}` },
  shapes: { type: 'text', help: 'loads, sensors x samples a message', fallback: SHAPES.join(',') },
  rounds: { type: 'integer', help: 'how often each comparison is run', fallback: 3, min: 1 },
  run: { type: 'duration', help: 'one run of a comparison', fallback: 4000, min: 500 },
  watch: { type: 'duration', help: 'how long the dashboard is left open', fallback: 600_000, min: 10_000 },
  classes: {
    type: 'text',
    help: 'of the peers: K survives a kill, P a power cut',
    fallback: CLASSES.join(','),
  },
  quick: { type: 'switch', help: 'one short round of everything: a look in a few minutes' },
} satisfies Record<string, Flag>;

const COMMAND = 'npm run bench --';

const LINE: CommandLine<typeof FLAGS> = {
  command: COMMAND,
  help: 'Measures everything side by side on this machine, prints the tables and keeps the raw figures in a file.',
  examples: [`${COMMAND} --quick`, `${COMMAND} --only ${PARTS[0]?.name} --rounds 5`],
  flags: FLAGS,
  settings: ['DATA_DIR'],
};

/** @throws {MillraceError} `usage` */
export function readFlags(argv: string[]): BenchFlags {
  const { only, shapes, rounds, run, watch, classes, quick } = parseFlags(LINE, argv);
  const names = PARTS.map(({ name }) => name);
  const problems = [];
  const usual = PARTS.filter(({ onRequest }) => !onRequest).map(({ name }) => name);
  const chosen = only === undefined ? usual : only.split(',');
  for (const name of chosen) if (!names.includes(name)) problems.push(`--only: no part is called ${name}`);
  const durabilities = CLASSES.filter((name) => classes.split(',').includes(name));
  if (durabilities.length !== classes.split(',').length) problems.push('--classes: K, P or K,P');
  const loads = shapes.split(',');
  for (const load of loads) if (!shapeOf(load)) problems.push(`--shapes: ${load} is no load such as 4x10`);
  if (problems.length > 0) throw usageError(COMMAND, problems);
  return {
    only: chosen,
    shapes: loads,
    rounds: quick ? 1 : rounds,
    runMs: quick ? Math.min(run, 2000) : run,
    watchMs: quick ? Math.min(watch, 60_000) : watch,
    warmMs: quick ? 750 : 1500,
    bootMs: quick ? 10_000 : 40_000,
    classes: durabilities,
    quick,
    inFlight: quick ? [64, 256] : [16, 64, 256, 512],
  };
}
