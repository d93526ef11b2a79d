import { z } from 'zod';

/**
 * What devices send, as JSON. The decoders in `api/ingest/formats` read these by hand, for speed, and take a message
 * with single wrong measurements in it; these are the shapes of messages in which nothing is wrong. A property test
 * holds the two to each other.
 */

const name = z.string().min(1).max(128);

const PlainMeasurement = z
  .looseObject({
    sensor_id: name.meta({ description: 'The sensor: a UUID in lower case, or a name.' }),
    ts: z
      .union([
        z.int().meta({ description: 'Epoch milliseconds.' }),
        z.string().meta({ description: 'ISO 8601; without a zone: UTC.' }),
      ])
      .optional()
      .meta({ description: 'Without it, the time of receipt.' }),
    value: z.number(),
  })
  .meta({ examples: [{ sensor_id: 'temperature', ts: '2026-11-21T08:00:00Z', value: 21.5 }] });

const SenmlRecord = z
  .looseObject({
    bn: z.string().optional().meta({ description: 'Base name, from this record on.' }),
    bt: z.number().optional().meta({ description: 'Base time in seconds, from this record on.' }),
    bv: z.number().optional().meta({ description: 'Base value, from this record on.' }),
    bver: z.number().max(10).optional(),
    n: z.string().optional().meta({ description: 'The sensor is `bn + n`.' }),
    t: z.number().optional().meta({ description: 'Measured at `bt + t`; below 2^28 it counts from now.' }),
    v: z.number().optional().meta({ description: 'The value is `bv + v`.' }),
    vb: z.boolean().optional().meta({ description: 'Stored as 0 or 1.' }),
    vs: z.string().optional().meta({ description: 'A text; skipped.' }),
    vd: z.string().optional().meta({ description: 'Data; skipped.' }),
    u: z.string().optional(),
    bu: z.string().optional(),
  })
  .meta({ description: 'A record of RFC 8428.' });

/** By their names in the documents. */
export const PAYLOADS = {
  PlainMeasurement,
  PlainMeasurements: z.union([PlainMeasurement, z.array(PlainMeasurement).max(10_000)]),
  SenmlRecord,
  SenmlPack: z
    .array(SenmlRecord)
    .max(10_000)
    .meta({
      examples: [
        [
          { bn: 'temperature', bt: 1_795_680_000, v: 21.5 },
          { t: 1, v: 21.6 },
        ],
      ],
    }),
};
