/** Aggregates of many sensors on one grid of time, by sensor, device, site or type. */
import { defineFeature } from '../../feature.ts';
import { createConcurrencyLimit } from '../../http/index.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';

/** A query may read thousands of sensors. */
const MAX_CONCURRENT = 8;

const BUSY = 'This process answers as many queries of many sensors as it can; try again later.';

export const queryFeature = defineFeature({
  name: 'query',
  schemas: SCHEMAS,
  routes,
  create: () => ({ deps: { queries: createConcurrencyLimit(MAX_CONCURRENT, BUSY) } }),
});
