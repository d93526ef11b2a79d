import { z } from 'zod';
import { Id, Name, name, pageOf, Time, value } from './shared.ts';

const Measurement = z.strictObject({ ts: Time, value: z.number() });

const Point = z
  .strictObject({
    ts: Time,
    min: z.number(),
    max: z.number(),
    avg: z.number().nullable(),
    count: z.int().positive(),
  })
  .meta({
    description:
      'The samples of one bin. `ts` is the start of the bin, also if the range starts within it. `avg` is null if the sum overflows a double.',
  });

const Series = z
  .strictObject({
    points: z.array(Point).max(2000),
    step_ms: z.int().positive().meta({ description: 'The width of a bin in milliseconds.' }),
    source: z.enum(['statistics', 'samples']),
  })
  .meta({
    description:
      'Points in order of time. Bins without samples are left out. `source` is `statistics` if the points are made of the statistics of whole hours, else `samples`.',
  });

const aggregate = z.array(value).optional();

const QuerySeries = z
  .strictObject({
    device_id: Id.optional(),
    device: name.optional(),
    sensor_id: Id.optional(),
    sensor: name.optional(),
    type: name.optional(),
    site: name.optional(),
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

export const MEASUREMENTS_SCHEMAS = {
  Measurement,
  MeasurementPage: pageOf(Measurement),
  Point,
  Series,
  QuerySeries,
  QueryColumns,
  QueryRow,
  QueryAnswer,
};
