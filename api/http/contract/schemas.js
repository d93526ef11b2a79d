import { z } from 'zod';
import { SCOPES } from '../../access/http/tokens.js';

/**
 * The schemas of all answers, each under its name in the documents. `../items.js` and the routes make the answers. The tests check every
 * answer against its schema; unknown members are errors.
 */

const Id = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  .meta({
    description: 'A UUID in lower case.',
    format: 'uuid',
    examples: ['0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11'],
  });

/** The rule of `isName`, without its checks of bytes and lone surrogates, which JSON Schema cannot express. */
const Name = z
  .string()
  .min(1)
  .max(128)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: readers of the documents know ranges, but not all know \p{Cc}
  .regex(/^[^\x00-\x1f\x7f-\x9f]*$/u)
  .meta({ description: 'A text of 1 to 128 bytes of UTF-8 without control characters.' });

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
    'The end of the page. For the next page send it as `cursor` with all other parameters the same. It is valid for a day.',
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
  .meta({ description: 'A sensor with its newest value. `ts` and `value` are null before the first value.' });

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
  .meta({ description: 'A sensor of the requested device, with its newest value.' });

const SensorOfDevice = z.strictObject({ device_id: Id, ...Sensor.shape });

const Device = z
  .strictObject({ device_id: Id, name, site: name, online: z.boolean(), last_seen: time })
  .meta({ description: '`last_seen` is the time of the last message of the device, to the minute.' });

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
      'The samples of one bin. `ts` is the start of the bin, also if the range starts within it. `avg` is null if the sum overflows a double.',
  });

const Series = z
  .strictObject({
    points: z.array(Point).max(2000),
    step_ms: z.int().positive().meta({ description: 'The width of a bin in milliseconds.' }),
    source: z.enum(['statistics', 'samples']),
  })
  .meta({
    description:
      'Points in order of time. Bins without samples are left out. `source` is `statistics` if the points are made of the statistics of whole hours, else `samples`.',
  });

const Codes = z.record(z.string(), z.int().positive()).meta({
  description: 'Counts of refused measurements, by code.',
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
      '`index` counts the elements of a message from 0; -1 is the message as a whole. `path` is the JSON path of the field that breaks the rule, empty for the message as a whole. For CBOR and Sparkplug it names the fields as their specifications do. `rule` describes the valid values for a person. Dead letters of older versions have neither `path` nor `rule`.',
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

const RefusedHour = z.strictObject({ hour: Time, dead_letters: z.int().positive(), codes: Codes });

const Accepted = z.strictObject({ accepted: z.int().min(0) }).meta({
  description: 'The count of committed measurements.',
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
    'The rates of all processes together over the last five seconds. `commit_ms` is the time from the receipt of a message to its commit, exact to 3 %, null if nothing was committed. `in_flight` counts the running requests to the database. `window` is the congestion window, the current limit of `in_flight`, and `window_limit` its upper limit (`INGEST_MAX_IN_FLIGHT`). `waiting` counts the requests that wait for a place in the window. `readers` counts the readers of `/stream`.',
});

const StatsThen = z.strictObject({ ts: Time, ...Stats.shape });

const Delta = z.strictObject({ items: z.array(LatestItem), committed_at: time, sent_at: Time }).meta({
  description:
    '`committed_at` is the commit time of the oldest of these values, `sent_at` the time of sending. Both are by the clock of the process that answers. Their difference is measured without comparing the clocks of two machines, so it leaves out the time in an external broker. `committed_at` is null if all values were read from the database.',
});

const Alive = z.strictObject({ status: z.literal('alive') });

const Readiness = z.strictObject({
  ready: z.boolean(),
  checks: z.record(z.string(), z.strictObject({ ok: z.boolean(), message: z.string() })),
});

const Counts = z.record(z.string(), z.int().positive()).meta({
  description: 'Counts of sensors, by type or by site.',
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
      '`pressure` has the congestion window for requests to the database, its upper limit (`INGEST_MAX_IN_FLIGHT`), and the count of requests that wait for a place. `readers` counts the readers of `/stream` at this process. `client_id` is the MQTT client id; for a process without a session at the broker it is the address where the process serves.',
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
  required: z.boolean().meta({ description: 'Whether this installation requires tokens.' }),
  scopes: z
    .array(z.enum(SCOPES))
    .meta({ description: 'The scopes of the caller. Empty: the caller has to sign in.' }),
  ends_at: time.meta({ description: 'The end of the session of the caller; null without a session.' }),
});

const credential = {
  device_id: Id,
  account: Name.meta({
    description: 'The user name at the broker: the name or the id of the device, as the request had it.',
  }),
  devices: z.array(Name).meta({ description: 'Further devices whose topics the account may use.' }),
  issued_at: Time,
  changed_at: Time.meta({ description: 'The time of the last new secret.' }),
};
const Credential = z.strictObject(credential);
const IssuedCredential = z.strictObject({
  ...credential,
  secret: z.string().meta({ description: 'The password at the broker. No other answer contains it.' }),
});

const Document = z.looseObject({}).meta({ description: 'The document.' });

/** @template {z.ZodType} T @param {T} item */
const pageOf = (item) => z.strictObject({ items: z.array(item), next: Cursor.nullable() });

/** The schemas by their names in the documents. */
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
