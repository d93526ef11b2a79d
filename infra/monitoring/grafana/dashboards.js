import { cqlQueryRules } from './source/cql-habits.js';
import { fleet } from './source/fleet.js';
import { ingest } from './source/ingest.js';
import { processes } from './source/process.js';

/** The dashboards as they stand in `dashboards/`: file name and text of each. @type {Array<{ file: string, text: string }>} */
export const dashboardFiles = [fleet, ingest, processes, cqlQueryRules].map((dashboard) => ({
  file: `${dashboard.uid}.json`,
  text: `${JSON.stringify(dashboard, null, 2)}\n`,
}));
