import { z } from 'zod';
import { Id, name, pageOf, Time, time, value } from './shared.ts';

const LatestItem = z
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

const Baseline = z
  .strictObject({ mean: z.number(), deviation: z.number().min(0) })
  .meta({ description: 'The usual values of a sensor in one hour, in its unit.' });

const Outlier = z
  .strictObject({
    ...LatestItem.shape,
    ts: Time,
    value: z.number(),
    sigmas: z.number().min(-99).max(99),
    baseline: Baseline.nullable(),
    age_ms: z.int().min(0),
  })
  .meta({
    description:
      'A sensor, its newest value, and what is usual in the hour of that value. `sigmas` is the distance in deviations, at most 99 to either side. `age_ms` is the age of the value. `baseline` is null if the hour ended meanwhile.',
    examples: [
      {
        device_id: '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11',
        sensor_id: '5d0c1a5e-93f4-5c0b-8a76-2f4f0d7e9b12',
        device: 'freezer-7',
        name: 'temperature',
        type: 'temperature',
        unit: 'Cel',
        site: 'Port X',
        ts: '2026-11-21T00:00:00.000Z',
        value: -3.5,
        sigmas: 24.8,
        baseline: { mean: -18.4, deviation: 0.6 },
        age_ms: 2150,
      },
    ],
  });

const OutlierCounts = { sensors: z.int().min(0), judged: z.int().min(0), outliers: z.int().min(0) };

const Outliers = z
  .strictObject({ items: z.array(Outlier).max(1000), ...OutlierCounts })
  .meta({ description: 'The counts are of all sensors of the filter, whatever the limit.' });

const OutlierGroup = z.strictObject({
  site: name,
  device_id: Id.nullable(),
  device: name,
  ...OutlierCounts,
  worst: Outlier.nullable(),
});

const OutlierGroups = z.strictObject({
  items: z.array(OutlierGroup).max(1000),
  groups: z.int().min(0),
});

const SensorBaseline = z.strictObject({
  hours: z.array(z.strictObject({ ts: Time, ...Baseline.shape })).max(48),
});

const Delta = z.strictObject({ items: z.array(JudgedItem), committed_at: time, sent_at: Time }).meta({
  description:
    '`committed_at` is the commit time of the oldest of these values, `sent_at` the time of sending. Both are by the clock of the process that answers. Their difference is measured without comparing the clocks of two machines, so it leaves out the time in an external broker. `committed_at` is null if all values were read from the database.',
});

export const LATEST_SCHEMAS = {
  LatestItem,
  LatestPage: pageOf(LatestItem),
  JudgedItem,
  Outlier,
  Outliers,
  OutlierGroup,
  OutlierGroups,
  Baseline,
  SensorBaseline,
  Snapshot: z.strictObject({ items: z.array(JudgedItem) }),
  Delta,
};
