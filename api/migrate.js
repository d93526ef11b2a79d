import { runCommand } from '../common/command.js';
import { readSettings } from '../common/settings.js';
import { migrateDatabase } from './store/migrate.js';

// npm run migrate: the schema alone.
await runCommand(async () => {
  const { from, to } = await migrateDatabase(readSettings(), (line) => console.log(line));
  console.log(
    from === to ? `The schema has version ${to}.` : `The schema went from version ${from} to ${to}.`,
  );
});
