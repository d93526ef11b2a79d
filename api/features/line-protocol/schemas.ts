import { z } from 'zod';

const InfluxHealth = z
  .strictObject({
    name: z.literal('millrace'),
    status: z.enum(['pass', 'fail']),
    message: z.string(),
    version: z.string(),
  })
  .meta({ description: 'The readiness of this process for writes.' });

export const SCHEMAS = { InfluxHealth };
