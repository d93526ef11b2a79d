import { runCommand } from '../../common/command.js';
import { textTable } from '../bench/report/table.js';
import { readFigures } from './costs.js';
import { readFlags } from './flags.js';
import { installationOf } from './formula.js';
import { limitsOf } from './limits.js';
import { installationTable, limitsTable, partitionText, settingLines } from './table.js';

// npm run size: the needs of a fleet, and the limits that it reaches while it grows.
await runCommand(async () => {
  const { fleet, parts } = readFlags(process.argv.slice(2));
  const figures = await readFigures();
  const needed = installationTable(installationOf(fleet, parts, figures));
  const limits = limitsTable(limitsOf(fleet, parts, figures));
  console.log(`${textTable(needed.head, needed.rows)}\n`);
  console.log(`${partitionText(fleet)}\n`);
  console.log(`${textTable(limits.head, limits.rows)}\n`);
  console.log('For .env of every process, before the first migration, which fixes LATEST_GROUPS for ever:\n');
  console.log(`${settingLines(fleet).join('\n')}\n`);
  console.log('Where each figure comes from: docs/explanation/sizing.md.');
});
