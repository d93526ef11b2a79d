/** Old measurements in CSV, NDJSON or Parquet, stored at their original times. */
import { defineFeature } from '../../feature.ts';
import { createConcurrencyLimit } from '../../http/index.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { clearUploads } from './uploads.ts';

/** An import holds up to 32 MB of samples. */
export const MAX_CONCURRENT_IMPORTS = 2;

const BUSY = 'This process imports as many files as it can; try again later.';

export const importFeature = defineFeature({
  name: 'import',
  views: ['/import'],
  schemas: SCHEMAS,
  routes,
  create: ({ config }) => ({
    deps: { imports: createConcurrencyLimit(MAX_CONCURRENT_IMPORTS, BUSY) },
    start: () => clearUploads(config.dataDir),
  }),
});
