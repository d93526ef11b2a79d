/**
 * A mapping defines which messages of other products become which measurements (setting `MQTT_MAPPINGS`). Mappings are data, and run no
 * code. `presets/` has ready-made mappings.
 */

import { defineFeature } from '../../feature.ts';
import { Mappings } from './mappings.ts';
import { rightsOf } from './rights.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { MAPPING_SETTINGS } from './settings.ts';
import { MappedTopics } from './topics.ts';

export const mappingsFeature = defineFeature({
  name: 'mappings',
  settings: [MAPPING_SETTINGS],
  schemas: SCHEMAS,
  routes,
  topics: (context, deps) => new MappedTopics(context, deps),
  brokerRights: (config) => rightsOf(Mappings.load(config.of(MAPPING_SETTINGS).file)),
  create({ ingest: { topics } }) {
    const { unmatched } = topics.readers.find((reader) => reader instanceof MappedTopics) as MappedTopics;
    return { deps: { unmatchedTopics: unmatched } };
  },
});
