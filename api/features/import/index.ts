/** Old measurements in CSV, NDJSON or Parquet, stored at their original times. */
import { defineFeature } from '../../feature.ts';
import { createConcurrencyLimit } from '../../http/index.ts';
import { counted } from '../../observability/index.ts';
import { destinationOf } from './files.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { IMPORT_SETTINGS } from './settings.ts';
import { clearUploads } from './uploads.ts';

/** An import holds up to 32 MB of samples. */
export const MAX_CONCURRENT_IMPORTS = 2;

const BUSY = 'This process imports as many files as it can; try again later.';

export const importFeature = defineFeature({
  name: 'import',
  settings: [IMPORT_SETTINGS],
  schemas: SCHEMAS,
  routes,
  create: ({
    context: {
      config,
      metrics: { declare },
    },
    store,
    ingest,
    corrections,
  }) => ({
    deps: {
      destination: destinationOf(store, ingest, corrections),
      imports: createConcurrencyLimit(MAX_CONCURRENT_IMPORTS, BUSY),
      importedSamples: counted(
        declare.counter(
          'iot_import_samples_total',
          'Samples of files that were imported over HTTP, by format',
          'format',
        ),
        'format',
        ['csv', 'ndjson', 'parquet'],
      ),
    },
    start: () => clearUploads(config.dataDir),
  }),
});
