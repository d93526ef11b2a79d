import { readFile, writeFile } from 'node:fs/promises';
import { runCommand } from '../../common/command.js';
import { parseFlags } from '../../common/flags.js';
import { readFigures } from './costs.js';
import { readFlags } from './flags.js';
import { fillMarks, partsOfPage } from './table.js';

const PAGE = new URL('../../docs/explanation/sizing.md', import.meta.url);

// npm run size:docs: writes the tables of docs/explanation/sizing.md for the fleet that the defaults of the flags describe.
await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run size:docs --',
      help: 'Writes the tables of docs/explanation/sizing.md for the fleet that the defaults of npm run size describe.',
      examples: ['npm run size:docs'],
      flags: {},
    },
    process.argv.slice(2),
  );
  const plan = readFlags([]);
  const figures = await readFigures();
  await writeFile(PAGE, fillMarks(await readFile(PAGE, 'utf8'), partsOfPage(plan, figures)));
  console.log('docs/explanation/sizing.md is written');
});
