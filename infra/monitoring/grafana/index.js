import { writeFileSync } from 'node:fs';
import { runCommand } from '../../../common/command.js';
import { parseFlags } from '../../../common/flags.js';
import { dashboardFiles } from './dashboards.js';

// npm run dashboards: writes what source/ describes as Grafana reads it.
await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run dashboards --',
      help: 'Writes infra/monitoring/grafana/dashboards/*.json, as Grafana reads them, from their description in source/.',
      examples: ['npm run dashboards'],
      flags: {},
    },
    process.argv.slice(2),
  );
  for (const { file, text } of dashboardFiles) {
    writeFileSync(new URL(`dashboards/${file}`, import.meta.url), text);
  }
});
