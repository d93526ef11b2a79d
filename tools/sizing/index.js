import { runCommand } from '../../common/command.js';
import { textTable } from '../bench/report/table.js';
import { readFigures } from './costs.js';
import { readFlags } from './flags.js';
import { installationOf } from './installation.js';
import { limitsOf } from './limits.js';
import { installationsTable, limitsTable, partitionLines, settingLines } from './report.js';

// npm run size: what a fleet takes, packed and as one row per sample, and what ends on the way up.
await runCommand(async () => {
  const { fleet, parts } = readFlags(process.argv.slice(2));
  const figures = await readFigures();
  const sized = installationsTable({
    packed: installationOf(fleet, parts, 'packed', figures),
    rows: installationOf(fleet, parts, 'rows', figures),
  });
  const limits = limitsTable(
    limitsOf(fleet, parts, 'packed', figures),
    limitsOf(fleet, parts, 'rows', figures),
  );
  console.log(`${textTable(sized.head, sized.rows)}\n`);
  for (const line of partitionLines(fleet)) console.log(line);
  console.log(`\n${textTable(limits.head, limits.rows)}\n`);
  console.log('For .env of every process, before the first migration, which fixes LATEST_GROUPS for ever:\n');
  console.log(`${settingLines(fleet).join('\n')}\n`);
  console.log(
    'Where each figure comes from: docs/explanation/sizing.md. Prices are examples unless you give them.',
  );
});
