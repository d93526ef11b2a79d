import { z } from 'zod';
import { Id, Name, name, Time, value } from '../../http/index.ts';

const aggregate = z.array(value).optional();

const place = z
  .string()
  .nullable()
  .optional()
  .meta({ description: 'The place of the group: names from the root. Null: none.' });

const QuerySeries = z
  .strictObject({
    device_id: Id.optional(),
    device: name.optional(),
    sensor_id: Id.optional(),
    sensor: name.optional(),
    type: name.optional(),
    site: name.optional(),
    place_id: Id.nullable().optional(),
    place,
    unit: name,
    sensors: z.int().positive().optional().meta({ description: 'Sensors of the group.' }),
    avg: aggregate,
    min: aggregate,
    max: aggregate,
    count: z.array(z.int().min(0)).optional(),
    sum: aggregate,
    first: aggregate,
    last: aggregate,
  })
  .meta({
    description:
      'The aggregates of a sensor or of a group, one value for each of `times`. Null: the bin has no samples.',
    examples: [
      {
        place_id: '8d1c2b3a-4f5e-4a6b-8c7d-9e0f1a2b3c4d',
        place: 'Plant 1/Hall 2',
        unit: 'Cel',
        sensors: 12,
        avg: [21.5, null],
      },
    ],
  });

const QueryColumns = z
  .strictObject({ times: z.array(Time), series: z.array(QuerySeries) })
  .meta({ description: 'Columns. `times` are the starts of the bins, for all series.' });

const cell = value.optional();

const QueryRow = z
  .strictObject({
    ts: Time,
    device: Name.optional(),
    sensor: Name.optional(),
    site: name.optional(),
    type: name.optional(),
    place,
    unit: name,
    avg: cell,
    min: cell,
    max: cell,
    count: z.int().min(0).optional(),
    sum: cell,
    first: cell,
    last: cell,
  })
  .meta({
    description: 'A bin of a sensor or of a group. `device` and `sensor` are names, or ids without a name.',
  });

const QueryAnswer = z
  .union([QueryColumns, z.strictObject({ items: z.array(QueryRow) })])
  .meta({ description: 'Columns, or with `format=rows` an array of objects in `items`.' });

export const SCHEMAS = { QuerySeries, QueryColumns, QueryRow, QueryAnswer };
