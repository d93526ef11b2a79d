import { z } from 'zod';
import { Time } from './shared.ts';

export const LineRefusal = z.strictObject({
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
      '`index` counts the elements of a message from 0; -1 is the message as a whole. `path` is the JSON path of the field that breaks the rule, empty for the message as a whole. For CBOR and Sparkplug it names the fields as their specifications do. `rule` describes the valid values for a person. Dead letters of older versions have neither `path` nor `rule`.',
  });

export const Accepted = z.strictObject({ accepted: z.int().min(0) }).meta({
  description: 'The count of committed measurements.',
});

const UnmatchedTopic = z
  .strictObject({
    topic: z.string().max(512),
    count: z.int().positive(),
    ts: Time,
    size: z.int().min(0),
    payload_base64: z.base64(),
    suggestion: z
      .string()
      .nullable()
      .meta({ examples: ['iot/v1/my-desk/measurements'] }),
    mapping: z
      .string()
      .nullable()
      .meta({ examples: ['mappings:\n  - use: zigbee2mqtt\n'] }),
  })
  .meta({
    description:
      'Messages on one topic outside the contract. `topic` has the first 512 characters. `ts`, `size` and `payload_base64` are of the newest message: its receipt, its bytes, and the first 2048 of them. `suggestion` is the topic of the contract that was probably meant, with the same names; null if none is close. `mapping` is a draft for the file of `MQTT_MAPPINGS`, as YAML; null if no mapping may read the topic, or if there is a suggestion. A topic with more than 100 levels is listed as `$SYS/dropped`.',
  });

const UnmatchedTopics = z.strictObject({
  items: z.array(UnmatchedTopic).max(200),
  since: Time,
  source: z.enum(['embedded', 'external', 'none']),
});

export const INGEST_SCHEMAS = {
  LineRefusal,
  Refusal,
  Accepted,
  UnmatchedTopic,
  UnmatchedTopics,
};
