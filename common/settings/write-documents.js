import { writeFileSync } from 'node:fs';
import { runCommand } from '../command.js';
import { parseFlags } from '../flags.js';
import { envExample, settingsPage } from './documents.js';

const ROOT = new URL('../../', import.meta.url);

// npm run settings:docs: after a change of schema.js.
await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run settings:docs --',
      help: 'Writes .env.example and docs/reference/settings.md from the schema of the settings.',
      examples: ['npm run settings:docs'],
      flags: {},
    },
    process.argv.slice(2),
  );
  writeFileSync(new URL('.env.example', ROOT), envExample());
  writeFileSync(new URL('docs/reference/settings.md', ROOT), settingsPage());
  console.log('.env.example and docs/reference/settings.md are written');
});
