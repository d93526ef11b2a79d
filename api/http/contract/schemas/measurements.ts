import { z } from 'zod';
import { pageOf, Time } from './shared.ts';

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

export const MEASUREMENTS_SCHEMAS = {
  Measurement,
  MeasurementPage: pageOf(Measurement),
  Point,
  Series,
};
