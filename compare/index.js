import { runCommand } from '../common/command.js';
import { MillraceError } from '../common/errors.js';
import { readSettings } from '../common/settings/index.js';
import { createStatusLine } from '../common/status-line.js';
import { compareLedger } from './compare.js';
import { openStore } from './database.js';
import { readFlags } from './flags.js';
import { progressText, reportLines } from './report.js';

// npm run compare: a simulator's ledger against the database, both ways, sample by sample.
await runCommand(async () => {
  const { ledger, from, to } = readFlags(process.argv.slice(2));
  const config = readSettings();
  const statusLine = createStatusLine(process.stderr);
  const store = await openStore(config);
  try {
    const result = await compareLedger({
      ledgerPath: ledger,
      store,
      groups: config.retention.latestGroups,
      range: { from, to },
      onProgress: (progress) => statusLine.update(progressText(progress)),
    });
    statusLine.clear();
    for (const line of reportLines(result)) console.log(line);
    // A check that had nothing to check must not look like one that passed.
    if (result.acknowledged === 0)
      throw new MillraceError('failed', 'Nothing in this ledger is acknowledged.');
    if (!result.agree) throw new MillraceError('failed', 'The ledger and the database differ.');
  } finally {
    statusLine.clear();
    await store.close();
  }
});
