import { runCommand } from '../../common/command.ts';
import { readCommandSettings } from '../../common/dev-addresses.ts';
import { parseFlags } from '../../common/flags.ts';
import { DATABASE_SETTINGS } from '../../common/settings/index.ts';
import { migrateDatabase } from '../store/setup/index.ts';

// npm run migrate: it makes the tables of the database, or brings them up to date.
await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run migrate --',
      help: 'Makes the tables in the database of CQL_CONTACT_POINTS, or brings them to the version of this release.',
      examples: ['npm run migrate', 'CQL_CONTACT_POINTS=10.0.0.5 CQL_LOCAL_DC=eu-west npm run migrate'],
      flags: {},
      settings: DATABASE_SETTINGS,
    },
    process.argv.slice(2),
  );
  const { from, to } = await migrateDatabase(readCommandSettings('database'), (line) => console.log(line));
  console.log(
    from === to ? `The schema has version ${to}.` : `The schema went from version ${from} to ${to}.`,
  );
});
