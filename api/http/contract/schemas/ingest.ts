import { z } from 'zod';

export const Refusal = z
  .strictObject({
    index: z.int().min(-1),
    code: z.string(),
    path: z
      .string()
      .optional()
      .meta({ examples: ['[2].value', 'sensors[3].unit', 'metrics[2]'] }),
    rule: z
      .string()
      .optional()
      .meta({ examples: ['must be a number', 'must not be empty'] }),
  })
  .meta({
    description:
      '`index` counts the elements of a message from 0; -1 is the message as a whole. `path` is the JSON path of the field that breaks the rule, empty for the message as a whole. For a binary format it names the fields as the specification does. `rule` describes the valid values for a person. Dead letters of older versions have neither `path` nor `rule`.',
  });

export const Accepted = z.strictObject({ accepted: z.int().min(0) }).meta({
  description: 'The count of committed measurements.',
});

export const INGEST_SCHEMAS = {
  Refusal,
  Accepted,
};
