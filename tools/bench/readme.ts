import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import { parseFlags } from '../../common/flags.ts';
import { readSettings } from '../../common/settings/index.ts';
import { everything, headline, insertBetweenMarks, peersHeadline, peersPage, type Raw } from './documents.ts';

const README = new URL('../../README.md', import.meta.url);
const PAGE = new URL('../../docs/explanation/benchmarks.md', import.meta.url);

// npm run bench:readme: writes the figures of the newest runs into the documents, so that nobody has to type them.
await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run bench:readme --',
      help: 'Writes the newest whole run, and the newest run of the peers, into README.md and docs/explanation/benchmarks.md.',
      examples: ['npm run bench:readme'],
      flags: {},
      settings: ['DATA_DIR'],
    },
    process.argv.slice(2),
  );
  const home = join(readSettings().dataDir, 'bench');
  const names = (await readdir(home).catch(() => [])).filter((name) => /^bench-.*\.json$/.test(name));
  const read = async (name: string): Promise<Raw> => JSON.parse(await readFile(join(home, name), 'utf8'));
  const runs = await Promise.all(names.sort().map(read));
  const whole = runs.findLast(({ results }) => results.throughput && results.disk && results.reading);
  const peers = runs.findLast(({ results }) => results.peers);
  if (whole) await write('bench', { readme: headline(whole), page: everything(whole) });
  if (peers) await write('peers', { readme: peersHeadline(peers), page: peersPage(peers) });
  if (!whole && !peers)
    throw new MillraceError('failed', `There is no whole run in ${home} yet: npm run bench makes one.`);
});

async function write(section: 'bench' | 'peers', { readme, page }: { readme: string; page: string }) {
  for (const [file, text] of [[README, readme] as const, [PAGE, page] as const])
    await writeFile(file, insertBetweenMarks(await readFile(file, 'utf8'), text, section));
  console.log(`README.md and docs/explanation/benchmarks.md show the newest run: ${section}.`);
}
