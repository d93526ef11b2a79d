import { writeFileSync } from 'node:fs';
import { runCommand } from '../../../common/command.js';
import { parseFlags } from '../../../common/flags.js';
import { dashboardFiles, measurementFiles } from './dashboards.js';

// npm run dashboards: writes what source/ describes as Grafana reads it.
await runCommand(async () => {
  parseFlags(
    {
      command: 'npm run dashboards --',
      help: 'Writes dashboards/ and measurements/dashboards/ of infra/monitoring/grafana, as Grafana reads them, from their description in source/.',
      examples: ['npm run dashboards'],
      flags: {},
    },
    process.argv.slice(2),
  );
  for (const { file, text } of dashboardFiles) {
    writeFileSync(new URL(`dashboards/${file}`, import.meta.url), text);
  }
  for (const { file, text } of measurementFiles) {
    writeFileSync(new URL(`measurements/dashboards/${file}`, import.meta.url), text);
  }
});
