import { DEVICES_SCHEMAS } from './devices.ts';
import { INGEST_SCHEMAS } from './ingest.ts';
import { LATEST_SCHEMAS } from './latest.ts';
import { MEASUREMENTS_SCHEMAS } from './measurements.ts';
import { PROCESSES_SCHEMAS } from './processes.ts';
import { SHARED_SCHEMAS } from './shared.ts';

export { LineText } from './devices.ts';
export { Refusal } from './ingest.ts';

/** By their names in the documents. The tests check every answer of a route against its schema. An unknown member is an error. */
export const SCHEMAS = {
  ...SHARED_SCHEMAS,
  ...DEVICES_SCHEMAS,
  ...LATEST_SCHEMAS,
  ...MEASUREMENTS_SCHEMAS,
  ...INGEST_SCHEMAS,
  ...PROCESSES_SCHEMAS,
};
