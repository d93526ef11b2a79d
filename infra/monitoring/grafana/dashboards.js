import { cqlQueries } from './source/cql-queries.js';
import { fleet } from './source/fleet.js';
import { ingest } from './source/ingest.js';
import { sensorsDashboard, siteDashboard } from './source/measurements.js';
import { processes } from './source/process.js';

/** The dashboards as they stand in `dashboards/`: file name and text of each. @type {Array<{ file: string, text: string }>} */
export const dashboardFiles = [fleet, ingest, processes, cqlQueries].map(fileOf);

/** Those that read the HTTP API, as they stand in `measurements/dashboards/`. */
export const measurementFiles = [sensorsDashboard, siteDashboard].map(fileOf);

/** @param {{ uid: string }} dashboard */
function fileOf(dashboard) {
  return { file: `${dashboard.uid}.json`, text: `${JSON.stringify(dashboard, null, 2)}\n` };
}
