import { z } from 'zod';
import { Time } from '../../http/index.ts';

const Imported = z
  .strictObject({
    rows: z.int().min(0),
    samples: z.int().min(0),
    merged: z.int().min(0),
    refused: z.int().min(0),
    oldest: Time.nullable(),
    newest: Time.nullable(),
    refused_lines: z
      .array(z.strictObject({ line: z.int().min(1), code: z.string(), rule: z.string() }))
      .max(1000),
    merged_lines: z.array(z.strictObject({ line: z.int().min(1), same_as: z.int().min(1) })).max(100),
    first: z
      .array(
        z.strictObject({
          line: z.int().min(1),
          device: z.string(),
          sensor: z.string(),
          ts: Time,
          local: z.string().nullable(),
          value: z.number(),
          type: z.string().nullable(),
          unit: z.string().nullable(),
          site: z.string().nullable(),
        }),
      )
      .max(20),
  })
  .meta({
    description:
      '`rows` of the file are read, and their `samples` committed. `merged` counts samples that are not stored, because the file has another sample of the same sensor and time; `merged_lines` has the first hundred. `refused` counts the samples and lines that are not stored; `refused_lines` has the first thousand. `oldest` and `newest` are the times of the first and the last sample, null without samples. `first` is for a dry run: the first samples as they would be stored, with the time in the zone of the request.',
  });

const ImportProposal = z
  .strictObject({
    options: z.record(z.string(), z.string()),
    questions: z.array(
      z.strictObject({ option: z.string(), text: z.string(), choices: z.array(z.string()) }),
    ),
    columns: z.array(z.string()),
  })
  .meta({
    description:
      '`options` are parameters of `POST /import`. A question has the parameter that answers it, and usual answers. If `options` has an answer too, it is likely, but not sure.',
  });

export const SCHEMAS = { Imported, ImportProposal };
