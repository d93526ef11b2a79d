import { isSilent } from '../../api/heartbeat.js';
import { readProcesses } from '../../api/store/running.js';
import { runCommand } from '../../common/command.js';
import { MillraceError } from '../../common/errors.js';
import { readSettings } from '../../common/settings/index.js';

// A step of plans: fails while a process of the application is heard of in CQL_KEYSPACE.
await runCommand(async () => {
  const { cql } = readSettings();
  const now = Date.now();
  const told = (/** @type {import('../../api/store/processes.js').ProcessRow} */ { clientId, seenAt }) =>
    `${clientId} (${Math.round((now - seenAt) / 1000)} s ago)`;
  const rows = await readProcesses(cql);
  const silent = rows.filter((row) => isSilent(row, now));
  const running = rows.filter((row) => !silent.includes(row));
  const where = `${cql.keyspace} at ${(cql.contactPoints ?? ['this machine']).join(', ')}`;
  if (silent.length > 0) console.log(`Died, or without the database: ${silent.map(told).join(', ')}.`);
  if (running.length === 0) return console.log(`No process is heard of in ${where}.`);
  throw new MillraceError(
    'failed',
    `Processes run in ${where}: ${running.map(told).join(', ')}. Stop all of them: a packer among them would take hours for packed whose batches are not back yet. One that died counts for half a minute.`,
  );
});
