import { runCommand } from '../../common/command.js';
import { readCommandSettings } from '../../common/dev-addresses.js';
import { migrateDatabase } from '../store/migrate.js';

// npm run migrate: the schema alone.
await runCommand(async () => {
  const { from, to } = await migrateDatabase(readCommandSettings('database'), (line) => console.log(line));
  console.log(
    from === to ? `The schema has version ${to}.` : `The schema went from version ${from} to ${to}.`,
  );
});
