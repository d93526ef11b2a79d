import { connect } from '../../../api/store/connect.ts';
import { runCommand } from '../../../common/command.ts';
import { readCommandSettings } from '../../../common/dev-addresses.ts';
import { DDL } from '../../../schema/migrate/cluster.ts';

// Program of a step: runs its arguments, which are ALTER TABLE statements, as CQL_USERNAME with the settings of the application. Without
// an argument it only signs in.
await runCommand(async () => {
  const { cql } = readCommandSettings('database');
  const client = await connect(cql, { applicationName: 'millrace-operations' });
  try {
    for (const statement of process.argv.slice(2)) {
      await client.execute(statement, [], DDL);
      console.log(statement);
    }
  } finally {
    await client.shutdown();
  }
});
