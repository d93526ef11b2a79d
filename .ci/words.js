/**
 * Checks the words of names, comments, titles and documents with cspell: `node .ci/words.js`. Some files still hold words that
 * cspell.config.yaml forbids. `known-words.json` lists the files of each word, and only gets shorter: `--shrink` removes what is gone.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lint } from 'cspell';
import { runCommand } from '../common/command.js';
import { parseFlags } from '../common/flags.js';

/** @import { CommandLine } from '../common/flags.js' */

const KNOWN = new URL('known-words.json', import.meta.url);

/** @type {CommandLine<{ shrink: { type: 'switch', help: string } }>} */
const LINE = {
  command: 'npm run lint:words --',
  help: 'Checks the words of names, comments, titles and documents.',
  examples: ['npm run lint:words', 'npm run lint:words -- --shrink'],
  flags: { shrink: { type: 'switch', help: 'removes from known-words.json what no file holds any more' } },
};

await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  /** @type {Record<string, string[]>} the files that may hold a forbidden word */
  const known = JSON.parse(await readFile(KNOWN, 'utf8'));

  /** @type {Record<string, Set<string>>} the files that hold it */
  const found = {};
  /** @type {string[]} */
  const problems = [];
  let forbidden = 0;

  const { files } = await lint(
    ['**'],
    {
      gitignore: true,
      dot: true,
      config: 'cspell.config.yaml',
      cache: true,
      cacheStrategy: 'content',
      cacheLocation: 'node_modules/.cache/cspell',
    },
    {
      issue({ uri = '', text, isFlagged, row, col }) {
        const path = relative('', fileURLToPath(uri));
        const word = text.toLowerCase();
        if (isFlagged) {
          forbidden++;
          found[word] ??= new Set();
          found[word].add(path);
          if (known[word]?.includes(path)) return;
        }
        const advice = isFlagged
          ? 'forbidden by cspell.config.yaml'
          : 'unknown; correct it, or add it to .ci/dictionary.txt';
        problems.push(`${path}:${row}:${col}: "${text}" is ${advice}`);
      },
      error: (message, error) => problems.push(`${message}: ${error.message}`),
    },
  );

  const holds = (/** @type {string} */ word, /** @type {string} */ path) => Boolean(found[word]?.has(path));
  if (flags.shrink) {
    for (const [word, paths] of Object.entries(known)) {
      known[word] = paths.filter((path) => holds(word, path));
      if (known[word].length === 0) delete known[word];
    }
    await writeFile(KNOWN, `${JSON.stringify(known, null, 2)}\n`);
  }
  for (const [word, paths] of Object.entries(known))
    for (const path of paths)
      if (!holds(word, path))
        problems.push(`${path}: no longer holds "${word}"; run node .ci/words.js --shrink`);

  for (const problem of problems) console.error(problem);
  const listed = Object.values(known).reduce((sum, { length }) => sum + length, 0);
  console.log(
    `words: ${files} files, ${forbidden} forbidden words, ${listed} known entries, ${problems.length} problems`,
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
});
