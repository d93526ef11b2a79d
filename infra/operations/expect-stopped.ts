import { isSilent } from '../../api/observability/heartbeat.ts';
import { type ProcessRow, readProcesses } from '../../api/store/processes.ts';
import { runCommand } from '../../common/command.ts';
import { readCommandSettings } from '../../common/dev-addresses.ts';
import { MillraceError } from '../../common/errors.ts';

// Fails while a process of the application has a heartbeat in CQL_KEYSPACE.
await runCommand(async () => {
  const { cql } = readCommandSettings('database');
  const now = Date.now();
  const describe = ({ clientId, seenAt }: ProcessRow) =>
    `${clientId} (${Math.round((now - seenAt) / 1000)} s ago)`;
  const rows = await readProcesses(cql);
  const silent = rows.filter((row) => isSilent(row, now));
  const running = rows.filter((row) => !silent.includes(row));
  const where = `${cql.keyspace} at ${(cql.contactPoints ?? ['this machine']).join(', ')}`;
  if (silent.length > 0) console.log(`Died, or without the database: ${silent.map(describe).join(', ')}.`);
  if (running.length === 0) return console.log(`No process has a heartbeat in ${where}.`);
  throw new MillraceError(
    'failed',
    `Processes run in ${where}: ${running.map(describe).join(', ')}. Stop all of them: a running packer would mark hours as packed before their batches are restored. A process that died counts for half a minute.`,
  );
});
