import { writeFileSync } from 'node:fs';
import { dashboardFiles } from './dashboards.js';

// npm run dashboards: writes what source/ describes as Grafana reads it.
for (const { file, text } of dashboardFiles) {
  writeFileSync(new URL(`dashboards/${file}`, import.meta.url), text);
}
