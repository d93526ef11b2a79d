import { z } from 'zod';
import { Id, Name, pageOf, Refusal, Time } from '../../http/index.ts';

const Codes = z.record(z.string(), z.int().positive()).meta({
  description: 'Counts of refused measurements, by code.',
  examples: [{ bad_timestamp: 2 }],
});

const DeadLetter = z
  .strictObject({
    id: Id,
    ts: Time,
    device: z.string().nullable(),
    topic: z.string(),
    codes: Codes,
    refused: z.array(Refusal).max(100).nullable(),
    content_type: z.string().nullable(),
    size: z.int().min(0).nullable(),
    payload_base64: z.base64().nullable(),
  })
  .meta({
    description:
      'A message with refused measurements. `refused` lists the first 100 of them; `codes` counts all. `content_type` is the content type of the message, if it had one. `size` is the size of the whole payload in bytes; the first 64 KiB are stored. If only the counts were stored, all of these members except `codes` are null.',
  });

const Element = z
  .strictObject({ text: z.string(), marks: z.array(z.tuple([z.int().min(0), z.int().min(0)])) })
  .meta({
    description:
      'An element of a message in the notation of JSON. `marks` are half-open ranges of its characters that were refused.',
  });

const Decoded = z
  .strictObject({
    format: z.enum(['JSON', 'CBOR']).nullable(),
    text: z.string().nullable(),
    elements: z.array(Element).nullable(),
    problem: z.string().nullable(),
  })
  .meta({
    description:
      'A payload for people. `elements` have the indexes that refusals use: the message itself, the items of its list, or the sensors of a birth. If the payload cannot be decoded, they are null, and `problem` is the reason. `text` is null if the payload is no text.',
  });

const RefusedHour = z.strictObject({ hour: Time, dead_letters: z.int().positive(), codes: Codes });

const RefusedDevice = z.strictObject({
  device_id: Id,
  device: Name,
  refused: z.int().positive(),
  newest: Time,
});

export const SCHEMAS = {
  DeadLetter,
  DecodedDeadLetter: DeadLetter.safeExtend({ decoded: Decoded.nullable() }),
  DeadLetterPage: pageOf(DeadLetter),
  DeadLetterSummary: z.strictObject({ items: z.array(RefusedHour), from: Time, to: Time }),
  RefusedDevices: z.strictObject({
    items: z.array(RefusedDevice).max(1000),
    dead_letters: z.int().min(0),
    from: Time,
    to: Time,
  }),
};
