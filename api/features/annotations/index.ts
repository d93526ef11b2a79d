/** Texts about instants of a device or of the whole installation. */
import { defineFeature } from '../../feature.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { createAnnotationStore } from './store.ts';

export const annotationsFeature = defineFeature({
  name: 'annotations',
  tags: { annotations: 'Texts about instants of a device or of the installation.' },
  schemas: SCHEMAS,
  parameters: {
    annotation: {
      description: 'The `id` of an annotation in `GET /api/v1/annotations`.',
      schema: { type: 'string', format: 'uuid' },
      example: '7d3f1c60-c6d2-11f0-8de9-0242ac120002',
    },
  },
  routes,
  create: ({ store }) => ({ deps: { annotations: createAnnotationStore(store.session) } }),
});
