import { runCommand } from '../../common/command.js';
import { readFlags } from './flags.js';
import { PARTS } from './parts/index.js';
import { textTable } from './report/table.js';
import { runSession } from './session.js';
import { warm } from './stand/warm.js';
import { targetsTable } from './targets.js';

// npm run bench: everything side by side on this machine, tables of it, and the raw figures in a file.
await runCommand(async () => {
  const flags = readFlags(process.argv.slice(2));
  await runSession({
    name: 'bench',
    flags,
    async work({ stand, results, status, print }) {
      const parts = PARTS.filter(({ name }) => flags.only.includes(name));
      if (parts.some(({ onRequest }) => !onRequest)) await warm(stand, flags.bootMs, status);
      for (const part of parts) {
        const result = await part.run({
          stand,
          flags,
          status: (text) => status(`${part.name}: ${text}`),
          keep(partial) {
            results[part.name] = partial;
          },
        });
        results[part.name] = result;
        print(`\n${part.title}\n`);
        for (const { head, rows } of part.tables(result)) print(`${textTable(head, rows)}\n`);
      }
      const { head, rows } = targetsTable(results);
      if (rows.length > 0) print(`\nTargets\n\n${textTable(head, rows)}\n`);
    },
  });
});
