import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import { type Flag, parseFlags } from '../../common/flags.ts';
import { readSettings } from '../../common/settings/index.ts';
import {
  everything,
  hasOthers,
  headline,
  insertBetweenMarks,
  insertComparison,
  insertPeers,
  type Raw,
} from './documents.ts';

const FLAGS = {
  file: {
    type: 'text',
    help: 'raw figures of a run, or of several, with commas between: of what two have measured the later counts; default the newest',
  },
} satisfies Record<string, Flag>;

const README = new URL('../../README.md', import.meta.url);
const PAGE = new URL('../../docs/explanation/benchmarks.md', import.meta.url);

// npm run bench:readme: writes the figures of a run into the documents, so that nobody has to type them.
await runCommand(async () => {
  const flags = parseFlags(
    {
      command: 'npm run bench:readme --',
      help: 'Writes the figures of a run into README.md and docs/explanation/benchmarks.md.',
      examples: ['npm run bench:readme', 'npm run bench:readme -- --file .data/bench/bench-2026-11-21.json'],
      flags: FLAGS,
      settings: ['DATA_DIR'],
    },
    process.argv.slice(2),
  );
  const file = flags.file ?? (await newestRun());
  const raw = together(await Promise.all(file.split(',').map(readRun)));
  if (raw.results.peers) {
    await change(PAGE, (page) => insertPeers(page, raw));
    await change(README, (readme) => insertComparison(readme, raw));
  }
  if (hasOthers(raw)) {
    await change(README, (readme) => insertBetweenMarks(readme, headline(raw)));
    await change(PAGE, (page) => insertBetweenMarks(page, everything(raw)));
  }
  console.log(`The documents show ${file}.`);
});

async function change(document: URL, edit: (text: string) => string) {
  await writeFile(document, edit(await readFile(document, 'utf8')));
}

async function readRun(file: string): Promise<Raw> {
  return JSON.parse(await readFile(file, 'utf8'));
}

function together(runs: Raw[]): Raw {
  const results = Object.assign({}, ...runs.map((run) => run.results));
  const classes = new Map(
    runs.flatMap((run) => (run.results.peers ?? []).map((result) => [result.durability, result])),
  );
  if (classes.size > 0) results.peers = [...classes.values()];
  const began = [...new Set(runs.map((run) => run.began.slice(0, 10)))].join();
  const commits = [...new Set(runs.map((run) => run.commit ?? 'unknown'))].join();
  return {
    ...(runs.at(-1) as Raw),
    began,
    commit: commits,
    results,
  };
}

async function newestRun(): Promise<string> {
  const home = join(readSettings().dataDir, 'bench');
  const runs = (await readdir(home).catch(() => [])).filter((name) => /^bench-.*\.json$/.test(name));
  const newest = runs.sort().at(-1);
  if (!newest) throw new MillraceError('failed', `There is no run in ${home} yet: npm run bench makes one.`);
  return join(home, newest);
}
