/** Samples for clients of Prometheus, such as Grafana. */
import { defineFeature } from '../../feature.ts';
import { createWaitingLimit } from '../../http/index.ts';
import { routes as labelRoutes } from './label-routes.ts';
import { routes as queryRoutes } from './query-routes.ts';
import { SCHEMAS } from './schemas.ts';

const MAX_CONCURRENT = 8;

export const prometheusFeature = defineFeature({
  name: 'prometheus',
  tags: { prometheus: 'Samples for clients of Prometheus, such as Grafana.' },
  schemas: SCHEMAS,
  parameters: {
    label: {
      description: 'The name of a label.',
      schema: { type: 'string', minLength: 1 },
      example: 'site',
    },
  },
  routes: [...queryRoutes, ...labelRoutes],
  create: () => ({ deps: { promql: createWaitingLimit(MAX_CONCURRENT) } }),
});
