/** Corrections: stored samples are replaced or removed, and every correction is listed. */
import { defineFeature } from '../../feature.ts';
import { createConcurrencyLimit } from '../../http/index.ts';
import { createCompletion } from './completion.ts';
import { CHANNELS, createEvents, createFind, KIND } from './events.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';

/** Of one process. A removal of a large selection reads and writes as fast as the database answers. */
const MAX_REMOVALS = 2;

export const correctionsFeature = defineFeature({
  name: 'corrections',
  tags: { corrections: 'Replaces and removes stored samples.' },
  schemas: SCHEMAS,
  parameters: {
    correction: {
      description: 'The `id` of a correction in `GET /api/v1/corrections`.',
      schema: { type: 'string', format: 'uuid' },
      example: '7d3f1c60-c6d2-11f0-8de9-0242ac120002',
    },
  },
  events: {
    [KIND]: {
      schema: SCHEMAS.Correction,
      text: 'a correction of any device. One of many sensors has several events with the same id. After a reconnect read `GET /corrections`',
    },
  },
  channels: CHANNELS,
  messages: { Correction: SCHEMAS.Correction },
  announced: { [KIND]: ({ everywhere }) => createFind(everywhere) },
  routes,
  create: (core) => ({
    ...createEvents(core),
    ...createCompletion(core),
    deps: {
      removals: createConcurrencyLimit(
        MAX_REMOVALS,
        'This process removes as many selections as it can; try again later.',
      ),
    },
  }),
});
