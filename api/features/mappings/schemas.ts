import { z } from 'zod';
import { Time } from '../../http/index.ts';

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

export const SCHEMAS = { UnmatchedTopic, UnmatchedTopics };
