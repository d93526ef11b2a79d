import { z } from 'zod';
import { SCOPES } from '../../access/http/tokens.js';

/**
 * The shapes of all answers, each under the name that it has in the documents. What makes them is in `../items.js` and
 * in the routes; the tests hold every answer to them, to the last member.
 */

const Id = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  .meta({
    description: 'A UUID in lower case.',
    format: 'uuid',
    examples: ['0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11'],
  });

/** As `isName` has it, but for the bytes, which JSON Schema cannot count, and for halves of surrogates, which are no UTF-8. */
const Name = z
  .string()
  .min(1)
  .max(128)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: readers of the documents know ranges, but not all know \p{Cc}
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/u)
  .meta({ description: 'A text of 1 to 128 bytes of UTF-8 without control characters, as it was given.' });

const Time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({
    description: 'An instant in UTC, to the millisecond.',
    format: 'date-time',
    examples: ['2026-11-21T00:00:00.000Z'],
  });

const Cursor = z.string().min(1).meta({
  description:
    'Where the page ended: pass it as `cursor`, all other parameters the same, to go on. Good for a day.',
});

const name = Name.nullable();
const time = Time.nullable();
const value = z.number().nullable();

const LatestItem = z
  .strictObject({
    device_id: Id,
    sensor_id: Id,
    device: name,
    name,
    type: name,
    unit: name,
    site: name,
    ts: time,
    value,
  })
  .meta({ description: 'A sensor with its newest value; `ts` and `value` are null before the first one.' });

const Sensor = z
  .strictObject({
    sensor_id: Id,
    name,
    type: name,
    unit: name,
    interval_ms: z.int32().positive().nullable(),
    ts: time,
    value,
  })
  .meta({ description: 'A sensor of a device that is known from elsewhere, with its newest value.' });

const SensorOfDevice = z.strictObject({ device_id: Id, ...Sensor.shape });

const Device = z
  .strictObject({ device_id: Id, name, site: name, online: z.boolean(), last_seen: time })
  .meta({ description: '`last_seen` is when something last came from it, to the minute.' });

const DeviceWithSensors = z.strictObject({ ...Device.shape, registered_at: Time, sensors: z.array(Sensor) });

const Event = z.strictObject({ ts: Time, kind: z.enum(['birth', 'online', 'offline']) });

const Measurement = z.strictObject({ ts: Time, value: z.number() });

const Point = z
  .strictObject({
    ts: Time,
    min: z.number(),
    max: z.number(),
    avg: z.number().nullable(),
    count: z.int().positive(),
  })
  .meta({
    description:
      'The samples of one bin. `ts` is where the bin begins, for the first one also where the range begins later; `avg` is null where their sum is beyond a double.',
  });

const Series = z
  .strictObject({
    points: z.array(Point).max(2000),
    step_ms: z.int().positive().meta({ description: 'The width of a bin, in milliseconds.' }),
    source: z.enum(['statistics', 'samples']),
  })
  .meta({
    description:
      'In order of time; bins without samples are not listed. `source`: `statistics` where those of whole hours were taken, else `samples`.',
  });

const Codes = z.record(z.string(), z.int().positive()).meta({
  description: 'How many measurements were refused, by code.',
  examples: [{ bad_timestamp: 2 }],
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
      '`index` counts the elements of a message from 0; -1 is the message as a whole. `path` is the JSON path of what breaks the rule, empty for the message as a whole; for CBOR and Sparkplug it names the fields as their specifications do. `rule` says for a person what the value must be. Dead letters of older versions have neither.',
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
      'A message of which something was refused. `refused` are the first 100 of its measurements that were, `codes` counts all. `content_type` is what the sender said, if anything. `size` is that of the whole payload in bytes, of which the first 64 KiB are kept. Where only counts were kept, all of these but `codes` are null.',
  });

const RefusedHour = z.strictObject({ hour: Time, dead_letters: z.int().positive(), codes: Codes });

const Accepted = z.strictObject({ accepted: z.int().min(0) }).meta({
  description: 'How many measurements are committed.',
});

const RATES = {
  samples_per_s: z.number().min(0),
  commit_ms: z.strictObject({ p50: z.number().min(0).nullable(), p99: z.number().min(0).nullable() }),
  in_flight: z.int().min(0),
  refused_per_s: z.number().min(0),
  readers: z.int().min(0),
};

const PRESSURE = { window: z.int().min(0), window_limit: z.int().min(0), waiting: z.int().min(0) };

const Stats = z.strictObject({ ...RATES, ...PRESSURE }).meta({
  description:
    'What all processes together do, over the last five seconds. `commit_ms` is from the receipt of a message to its commit, within 3 %, null where nothing was committed. `in_flight` is how many requests to the database are on their way, `window` how many may be now, `window_limit` how many may be at most (`INGEST_MAX_IN_FLIGHT`), `waiting` how many wait for a place. `readers` is how many follow `/stream`.',
});

const StatsThen = z.strictObject({ ts: Time, ...Stats.shape });

const Delta = z.strictObject({ items: z.array(LatestItem), committed_at: time, sent_at: Time }).meta({
  description:
    '`committed_at` is when the oldest of these values was committed, `sent_at` when this was sent, both by the clock of the process that answers; their difference is measured without comparing clocks of two machines, so the way through an external broker is not in it. `committed_at` is null where all of them were read from the database, not heard of.',
});

const Alive = z.strictObject({ status: z.literal('alive') });

const Readiness = z.strictObject({
  ready: z.boolean(),
  checks: z.record(z.string(), z.strictObject({ ok: z.boolean(), message: z.string() })),
});

const Counts = z.record(z.string(), z.int().positive()).meta({
  description: 'How many sensors, by type or by site.',
  examples: [{ Temperature: 2 }],
});

const Fleet = z.strictObject({
  devices: z.strictObject({ online: z.int().min(0), offline: z.int().min(0) }),
  sensors: z.int().min(0),
  by_type: Counts,
  by_site: Counts,
});

const Check = z.strictObject({ ok: z.boolean(), message: z.string() });

const Process = z
  .strictObject({
    client_id: z.string(),
    role: z.enum(['all', 'ingest', 'http']),
    version: z.string(),
    since: Time,
    seen: Time,
    stale: z.boolean(),
    ...RATES,
    pressure: z.strictObject(PRESSURE),
    broker: Check.nullable(),
  })
  .meta({
    description:
      '`pressure` is how many requests to the database may be in flight now, how many at most (`INGEST_MAX_IN_FLIGHT`), and how many wait for a place. `readers` is how many follow `/stream` at this process. `client_id` is that at the broker; of a process without a session there, where it serves.',
  });

const Pipeline = z.strictObject({
  processes: z.array(Process),
  database: z.strictObject({
    nodes: z.array(
      z.strictObject({ address: z.string(), data_center: z.string().nullable(), up: z.boolean() }),
    ),
  }),
  broker: Check.nullable(),
  packed_until: Time,
});

const Session = z.strictObject({
  required: z.boolean().meta({ description: 'Whether this installation asks for a token at all.' }),
  scopes: z
    .array(z.enum(SCOPES))
    .meta({ description: 'What whoever asks may do; nothing: he has to sign in.' }),
  ends_at: time.meta({ description: 'When his session ends; null where he has none.' }),
});

const credential = {
  device_id: Id,
  account: Name.meta({ description: 'As whom it signs in: its name or its id, as it was given.' }),
  devices: z.array(Name).meta({ description: 'Further devices that it may speak for.' }),
  issued_at: Time,
  changed_at: Time.meta({ description: 'When its secret was last made.' }),
};
const Credential = z.strictObject(credential);
const IssuedCredential = z.strictObject({
  ...credential,
  secret: z.string().meta({ description: 'Its password, told this once.' }),
});

const Document = z.looseObject({}).meta({ description: 'The document itself.' });

/** @template {z.ZodType} T @param {T} item */
const pageOf = (item) => z.strictObject({ items: z.array(item), next: Cursor.nullable() });

/** By their names in the documents. */
export const SCHEMAS = {
  Id,
  Name,
  Time,
  Cursor,
  LatestItem,
  LatestPage: pageOf(LatestItem),
  Snapshot: z.strictObject({ items: z.array(LatestItem) }),
  Delta,
  Stats,
  RecentStats: z.strictObject({ items: z.array(StatsThen).max(300) }),
  Device,
  DevicePage: pageOf(Device),
  DeviceWithSensors,
  Event,
  EventPage: pageOf(Event),
  Sensor,
  SensorOfDevice,
  Measurement,
  MeasurementPage: pageOf(Measurement),
  Point,
  Series,
  Refusal,
  DeadLetter,
  DeadLetterPage: pageOf(DeadLetter),
  DeadLetterSummary: z.strictObject({ items: z.array(RefusedHour), from: Time, to: Time }),
  Accepted,
  Fleet,
  Process,
  Pipeline,
  Alive,
  Readiness,
  Session,
  Credential,
  CredentialPage: pageOf(Credential),
  IssuedCredential,
  Document,
};
