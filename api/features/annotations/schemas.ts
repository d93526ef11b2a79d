import { z } from 'zod';
import { Id, LineText, Name, pageOf, Time } from '../../http/index.ts';

const Annotation = z
  .strictObject({
    id: Id,
    ts: Time.meta({ description: 'The annotated instant.' }),
    device_id: Id.nullable(),
    text: LineText,
  })
  .meta({
    description: 'A text about an instant. `device_id` is null if it is about the whole installation.',
    examples: [
      {
        id: '7d3f1c60-c6d2-11f0-8de9-0242ac120002',
        ts: '2026-11-21T00:00:00.000Z',
        device_id: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
        text: 'Battery replaced',
      },
    ],
  });

const WantedAnnotation = z
  .strictObject({
    text: LineText.meta({ description: 'One line of 1 to 500 characters.' }),
    ts: z
      .union([
        z.int().meta({ description: 'Epoch milliseconds.' }),
        z.string().meta({ description: 'ISO 8601.' }),
      ])
      .optional()
      .meta({ description: 'The annotated instant. Default: now.' }),
    device: Name.optional().meta({
      description: 'The annotated device: a UUID in lower case, or a name. Default: the whole installation.',
    }),
  })
  .meta({ examples: [{ text: 'Battery replaced', ts: '2026-11-21T08:00:00Z', device: 'my-desk' }] });

export const SCHEMAS = { Annotation, AnnotationPage: pageOf(Annotation), WantedAnnotation };
