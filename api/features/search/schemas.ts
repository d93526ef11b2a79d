import { z } from 'zod';
import { Id, name } from '../../http/index.ts';

const SearchResult = z
  .strictObject({
    kind: z.enum(['site', 'device', 'sensor']),
    name: z.string(),
    device_id: Id.nullable(),
    sensor_id: Id.nullable(),
    device: name,
    type: name,
    site: name,
  })
  .meta({
    description:
      'A site, a device or a sensor. `name` is the id if it has no name. `device` is the name of the device. Members that do not apply are null.',
    examples: [
      {
        kind: 'sensor',
        name: 'temperature',
        device_id: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
        sensor_id: '5a7e0d3b-3a0f-5c1f-8f0a-2d7a51c0b6ee',
        device: 'collar-0001',
        type: 'temperature',
        site: 'North Meadow',
      },
    ],
  });

const SearchResults = z.strictObject({
  items: z.array(SearchResult).max(100),
  more: z.boolean().meta({ description: 'Whether there are more results than `limit`.' }),
});

export const SCHEMAS = { SearchResult, SearchResults };
