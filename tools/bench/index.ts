import { runCommand } from '../../common/command.ts';
import type { Environment } from './environment/index.ts';
import { readFlags } from './flags.ts';
import { loadOf } from './load/shapes.ts';
import { measureRate } from './measure/rate.ts';
import { PARTS } from './parts/index.ts';
import { textTable } from './report/table.ts';
import { runSession } from './session.ts';
import { targetsTable } from './targets.ts';

// npm run bench: measures all parts on this machine, prints their tables, and writes the raw figures to a file.
//
// A run needs these folders, in the order of their use:
// - parts/        the measurements: each part runs its variants and has its tables
// - environment/  database, brokers and processes that a part gets
// - process/      starts child processes and sends them requests
// - load/         shapes, payloads and times of what devices send; publisher/ sends it
// - variants/     ingest with another store or without a broker, the driver alone, and the work of a message alone
// - measure/      rates, rounds, CPU and memory
// - loader/       months of data, also for npm run load; reading/ reads them, dashboard/ opens them in Chromium
// - peers/        Telegraf with QuestDB and InfluxDB
// - report/       tables; targets.ts has the targets, documents.ts and readme.ts write the pages
await runCommand(async () => {
  const flags = readFlags(process.argv.slice(2));
  const parts = PARTS.filter(({ name }) => flags.only.includes(name));
  await runSession({
    name: 'bench',
    flags,
    needsDashboard: parts.some(({ needsDashboard }) => needsDashboard),
    async work({ environment, results, status, print }) {
      if (parts.some(({ onRequest }) => !onRequest)) await warm(environment, flags.bootMs, status);
      for (const part of parts) {
        const result = await part.run({
          environment,
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

/** A fresh JVM is 3 to 8 times slower, so the first variant would look slow. */
async function warm(environment: Environment, forMs: number, onStatus: (text: string) => void) {
  const variants = [
    await environment.pipeline('packed'),
    await environment.pipeline('rows', { store: 'rows', gate: true }),
  ];
  const loads = ['1x60', '1x1'];
  for (const load of loads) {
    const shape = loadOf(load);
    for (const variant of variants) {
      onStatus(`warming the database: ${variant.name}, ${load}`);
      const ms = forMs / loads.length / variants.length;
      await measureRate(variant, shape, { database: environment.database, warmMs: ms, forMs: 100 });
    }
  }
}
