import { z } from 'zod';
import { Id, pageOf, Time } from '../../http/index.ts';

const Correction = z
  .strictObject({
    id: Id,
    accepted_at: Time,
    kind: z.enum(['replace', 'remove', 'undo']),
    device_id: Id,
    sensor_ids: z.array(Id),
    from: Time,
    to: Time.meta({ description: 'Not included.' }),
    samples: z.int().min(0),
    by: z.string(),
    reason: z.string().nullable(),
    undoes: Id.nullable().meta({ description: 'The undone correction, for the kind `undo`.' }),
  })
  .meta({
    description:
      'A correction of one device. `samples` counts the samples that got a value, or were removed; it is 0 until a removal ends, and until then `sensor_ids` has all selected sensors. `by` is the kind of the credential, the fingerprint of the token and the address of the caller.',
    examples: [
      {
        id: '7d3f1c60-c6d2-11f0-8de9-0242ac120002',
        accepted_at: '2026-11-21T09:50:00.000Z',
        kind: 'remove',
        device_id: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
        sensor_ids: ['5b0f1d8e-3c2a-5d11-8a77-0f6a2d9b4c33'],
        from: '2026-11-21T08:00:00.000Z',
        to: '2026-11-21T09:00:00.000Z',
        samples: 3600,
        by: 'token 5f1d09ab 192.0.2.1',
        reason: 'The sensor was on the bench.',
        undoes: null,
      },
    ],
  });

const Removal = z
  .strictObject({
    dry_run: z.boolean(),
    devices: z.int().min(0),
    sensors: z.int().min(0),
    samples: z.int().min(0),
  })
  .meta({
    description:
      'The samples that were removed, or that a dry run would remove, and the devices and sensors that have them.',
    examples: [{ dry_run: true, devices: 1, sensors: 2, samples: 7200 }],
  });

export const SCHEMAS = { Correction, CorrectionPage: pageOf(Correction), Removal };
