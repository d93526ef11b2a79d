/** The kept messages with refused measurements: to look at, to count, and to store after all. */
import { defineFeature } from '../../feature.ts';
import { routes as deviceRoutes } from './refused-devices.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { createDeadLetterReads } from './store.ts';

export const deadLettersFeature = defineFeature({
  name: 'dead-letters',
  tags: { 'dead-letters': 'Messages with refused measurements, and the reasons.' },
  schemas: SCHEMAS,
  parameters: {
    id: {
      description: 'The `id` of a dead letter in `GET /api/v1/dead-letters`.',
      schema: { type: 'string', format: 'uuid' },
      example: '7d3f1c60-c6d2-11f0-8de9-0242ac120002',
    },
  },
  // `/dead-letters/devices` comes first, because `/dead-letters/{id}` matches it too.
  routes: [...deviceRoutes, ...routes],
  create: ({ store }) => ({ deps: { deadLetters: createDeadLetterReads(store) } }),
});
