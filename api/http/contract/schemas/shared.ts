import { z } from 'zod';

export const Id = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  .meta({
    description: 'A UUID in lower case.',
    format: 'uuid',
    examples: ['0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11'],
  });

/** Like `isName`, except its checks of bytes and lone surrogates, which JSON Schema cannot express. */
export const Name = z
  .string()
  .min(1)
  .max(128)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the OpenAPI document shows this pattern, and not all of its readers know \p{Cc}
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/u)
  .meta({ description: 'A text of 1 to 128 bytes of UTF-8 without control characters.' });

export const Time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({
    description: 'An instant in UTC, to the millisecond.',
    format: 'date-time',
    examples: ['2026-11-21T00:00:00.000Z'],
  });

const Cursor = z.string().min(1).meta({
  description:
    'The end of the page. For the next page send it as `cursor` with all other parameters the same. It is valid for a day.',
});

export const name = Name.nullable();

export const time = Time.nullable();

export const value = z.number().nullable();

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.strictObject({ items: z.array(item), next: Cursor.nullable() });

export const Counts = z.record(z.string(), z.int().positive()).meta({
  description: 'Counts of sensors, by type or by site.',
  examples: [{ Temperature: 2 }],
});

export const SHARED_SCHEMAS = {
  Id,
  Name,
  Time,
  Cursor,
};
