import { z } from 'zod';
import { Id, name, pageOf, Time, time, value } from './shared.ts';

export const LatestItem = z
  .strictObject({
    device_id: Id,
    sensor_id: Id,
    device: name,
    name,
    type: name,
    unit: name,
    site: name,
    interval_ms: z.int32().positive().optional().meta({
      description:
        'The announced interval of its measurements, in ms. Missing if none was announced, and over MQTT.',
    }),
    ts: time,
    value,
    corrected_until: Time.optional().meta({
      description:
        'Only over MQTT, after a correction: this value replaces a shown one up to this time, even if it is older.',
    }),
  })
  .meta({ description: 'A sensor with its newest value. `ts` and `value` are null before the first value.' });

const JudgedItem = z
  .strictObject({
    ...LatestItem.shape,
    sigmas: z.number().min(-99).max(99).optional().meta({
      description:
        'How far the value is above (negative: below) what is usual for this sensor at this hour of the week, in deviations. It is missing while nothing is known.',
    }),
  })
  .meta({ description: 'A sensor with its newest value, and how unusual it is.' });

const Delta = z.strictObject({ items: z.array(JudgedItem), committed_at: time, sent_at: Time }).meta({
  description:
    '`committed_at` is the commit time of the oldest of these values, `sent_at` the time of sending. Both are by the clock of the process that answers. Their difference is measured without comparing the clocks of two machines, so it leaves out the time in an external broker. `committed_at` is null if all values were read from the database.',
});

export const LATEST_SCHEMAS = {
  LatestItem,
  LatestPage: pageOf(LatestItem),
  JudgedItem,
  Snapshot: z.strictObject({ items: z.array(JudgedItem) }),
  Delta,
};
