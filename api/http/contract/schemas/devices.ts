import { z } from 'zod';
import { Counts, Id, name, pageOf, Time, time, value } from './shared.ts';

const Sensor = z
  .strictObject({
    sensor_id: Id,
    name,
    type: name,
    unit: name,
    label: name,
    interval_ms: z.int32().positive().nullable(),
    ts: time,
    value,
  })
  .meta({ description: 'A sensor of the requested device, with its newest value.' });

const SensorOfDevice = z.strictObject({ device_id: Id, ...Sensor.shape });

const Device = z
  .strictObject({
    device_id: Id,
    name,
    site: name,
    label: name,
    state: z.enum(['online', 'offline', 'not_live']),
    online: z.boolean(),
    last_seen: time,
  })
  .meta({
    description:
      '`state` is what the device announced. A device that announced nothing is `online` for five minutes after a message, and then `not_live`. `last_seen` is the time of its last message, to the minute.',
  });

const clockOffset = z.int().nullable().meta({
  description:
    'The clock of the device minus that of the server in ms, when its newest session began: negative if it is behind. null: no difference is known.',
});

const DeviceWithSensors = z.strictObject({
  ...Device.shape,
  registered_at: Time,
  clock_offset_ms: clockOffset,
  sensors: z.array(Sensor),
});

const Event = z.strictObject({
  ts: Time,
  kind: z.enum(['birth', 'online', 'offline']),
  clock_offset_ms: z.int().optional().meta({
    description: 'The clock of the device minus that of the server in ms; missing: no difference is known.',
  }),
});

/** one line of text that a person writes */
export const LineText = z
  .string()
  .min(1)
  .max(500)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the OpenAPI document shows this pattern, and not all of its readers know \p{Cc}
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/u);

const Fleet = z.strictObject({
  devices: z.strictObject({ online: z.int().min(0), offline: z.int().min(0), not_live: z.int().min(0) }),
  sensors: z.int().min(0),
  by_type: Counts,
  by_site: Counts,
});

export const DEVICES_SCHEMAS = {
  Device,
  DevicePage: pageOf(Device),
  DeviceWithSensors,
  Event,
  EventPage: pageOf(Event),
  Sensor,
  SensorOfDevice,
  Fleet,
};
