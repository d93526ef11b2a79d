import { z } from 'zod';

const InfluxHealth = z
  .strictObject({
    name: z.literal('millrace'),
    status: z.enum(['pass', 'fail']),
    message: z.string(),
    version: z.string(),
  })
  .meta({ description: 'The readiness of this process for writes.' });

const LineRefusal = z.strictObject({
  line: z.int().positive(),
  code: z.string(),
  path: z
    .string()
    .optional()
    .meta({ examples: ['timestamp', 'sensor'] }),
  rule: z
    .string()
    .optional()
    .meta({ examples: ['must have a value such as 21.5, 21i, 21u, true or "text" after each ='] }),
});

/** Further members of problem documents. */
export const PROBLEMS = {
  lines_refused: {
    message: z.string().meta({ description: 'The same as `detail`. Clients of InfluxDB log it.' }),
    accepted: z.int().min(0).meta({ description: 'Values that are stored.' }),
    lines: z.array(z.int().positive()).meta({ description: 'The numbers of all refused lines, from 1.' }),
    refused: z.array(LineRefusal).meta({ description: 'The reasons of the first of them.' }),
  },
};

export const SCHEMAS = { InfluxHealth, LineRefusal };
