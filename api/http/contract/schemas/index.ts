import { ALARMS_SCHEMAS } from './alarms.js';
import { DEVICES_SCHEMAS } from './devices.js';
import { INGEST_SCHEMAS } from './ingest.js';
import { LATEST_SCHEMAS } from './latest.js';
import { MEASUREMENTS_SCHEMAS } from './measurements.js';
import { PROCESSES_SCHEMAS } from './processes.js';
import { PROMETHEUS_SCHEMAS } from './prometheus.js';
import { SHARED_SCHEMAS } from './shared.js';

export { AnnotationText } from './devices.js';
export { LineRefusal, Refusal } from './ingest.js';

/**
 * The schemas of all answers, by their names in the documents. The tests check every answer of a route against its schema. An
 * unknown member is an error.
 */
export const SCHEMAS = {
  ...SHARED_SCHEMAS,
  ...DEVICES_SCHEMAS,
  ...LATEST_SCHEMAS,
  ...ALARMS_SCHEMAS,
  ...MEASUREMENTS_SCHEMAS,
  ...INGEST_SCHEMAS,
  ...PROCESSES_SCHEMAS,
  ...PROMETHEUS_SCHEMAS,
};
