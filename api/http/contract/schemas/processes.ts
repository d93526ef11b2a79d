import { z } from 'zod';
import { SCOPES } from '../../../access/http/index.ts';
import { MAX_UNWATCHED_SPANS } from '../../../observability/index.ts';
import { Time, time } from './shared.ts';

const RATES = {
  samples_per_s: z.number().min(0),
  commit_ms: z.strictObject({ p50: z.number().min(0).nullable(), p99: z.number().min(0).nullable() }),
  in_flight: z.int().min(0),
  refused_per_s: z.number().min(0),
  readers: z.int().min(0),
};

const PRESSURE = {
  window: z.int().min(0),
  window_limit: z.int().min(0),
  waiting: z.int().min(0),
  journal_ms: z.int().min(0),
};

const Stats = z.strictObject({ ...RATES, ...PRESSURE }).meta({
  description:
    'The rates of all processes together over the last five seconds. `commit_ms` is the time from the receipt of a message to its commit, exact to 3 %, null if nothing was committed. `in_flight` counts the running requests to the database. `window` is the congestion window, the current limit of `in_flight`, and `window_limit` its upper limit (`INGEST_MAX_IN_FLIGHT`). `waiting` counts the requests that wait for a place in the window. `journal_ms` is the age of the oldest sample in a journal whose row is not written yet, 0 if no sample waits. `readers` counts the readers of `/stream`.',
});

const StatsThen = z.strictObject({ ts: Time, ...Stats.shape });

const Check = z.strictObject({ ok: z.boolean(), message: z.string() });

const ProcessHealth = z
  .strictObject({
    client_id: z.string(),
    role: z.enum(['all', 'ingest', 'http']),
    checks: z.record(z.string(), Check),
    unanswered_ms: z.int().min(0),
    unsettled: z.strictObject({
      messages: z.int().min(0),
      oldest_ms: z.int().min(0),
      standstill_ms: z.int().min(0),
    }),
  })
  .meta({
    description:
      'The health of one process, as it reports it once a second. `checks` are those of its `/readyz`. `unanswered_ms` is the time since the database last answered a check, 0 while it answers. `unsettled` counts the messages that are received and not acknowledged, with the age of the oldest. `standstill_ms` is the time since one of them made progress.',
  });

const StatsEvent = z.strictObject({ ...Stats.shape, health: z.array(ProcessHealth).max(100) }).meta({
  description:
    '`Stats`, and the health of the processes. Processes with a failed check come first. The event needs no database, so it also comes while the database is away.',
});

const Alive = z.strictObject({ status: z.literal('alive') });

const Readiness = z.strictObject({
  ready: z.boolean(),
  checks: z.record(z.string(), Check),
});

const Measurements = z
  .strictObject({
    received: z.int().min(0),
    stored: z.int().min(0),
    merged: z.int().min(0),
    refused: z.int().min(0),
    skipped: z.int().min(0),
  })
  .meta({
    description:
      'Which way the measurements of settled messages have gone since the start of the process: `received` is the sum of the others. `merged` had the sensor and the instant of another one in their message. `skipped` are texts, nulls and other values that are not stored by rule. A message that was refused as a whole counts as one. Replays and imports are not included.',
  });

const Process = z
  .strictObject({
    client_id: z.string(),
    role: z.enum(['all', 'ingest', 'http']),
    version: z.string(),
    since: Time,
    seen: Time,
    stale: z.boolean(),
    ...RATES,
    measurements: Measurements,
    pressure: z.strictObject(PRESSURE),
    broker: Check.nullable(),
  })
  .meta({
    description:
      '`pressure` has the congestion window for requests to the database, its upper limit (`INGEST_MAX_IN_FLIGHT`), the count of requests that wait for a place, and the age of the oldest sample in the journal. `readers` counts the readers of `/stream` at this process. `client_id` is the MQTT client id; for a process without a session at the broker it is the address where the process serves.',
  });

const Mqtt = z
  .strictObject({
    embedded: z.boolean(),
    host: z.string().nullable(),
    port: z.int().min(0).max(65_535),
    tls: z.boolean(),
    credentials: z.boolean(),
  })
  .meta({
    description:
      'The broker that devices connect to. `embedded`: the process that answers is this broker. `host` is null if it listens on all addresses: use the host of this API. An external broker has the host by which the process reaches it. `credentials`: whether a client needs a user name and a password; at an external broker, whether the process has them.',
  });

const Pipeline = z.strictObject({
  processes: z.array(Process),
  measurements: Measurements,
  database: z.strictObject({
    nodes: z.array(
      z.strictObject({ address: z.string(), data_center: z.string().nullable(), up: z.boolean() }),
    ),
  }),
  broker: Check.nullable(),
  packed_until: Time,
  stream_out: z
    .strictObject({
      ok: z.boolean().meta({ description: 'The other system took the last request of every process.' }),
      lag_ms: z.int().min(0).meta({ description: 'Age of the block that waits longest to be sent.' }),
      queue_bytes: z.int().min(0),
      queue_limit: z.int().min(0),
      until: Time.nullable().meta({
        description:
          'All hours before it are complete in the other system. Null until each group of devices has begun.',
      }),
    })
    .nullable(),
  ingest: z.strictObject({
    auto_register: z.boolean().meta({
      description:
        'Whether a measurement registers its device (`AUTO_REGISTER`). Otherwise a birth comes first.',
    }),
    mqtt: Mqtt.nullable().meta({ description: 'Null: the process that answers knows no broker.' }),
  }),
});

const UnwatchedTime = z.strictObject({
  since: time.meta({
    description:
      'When the record of watched time begins: with the first process that writes it. Null: not yet.',
  }),
  items: z
    .array(z.strictObject({ from: Time, to: Time }))
    .max(MAX_UNWATCHED_SPANS)
    .meta({
      description: `Half-open, oldest first. At most ${MAX_UNWATCHED_SPANS} items: the longest.`,
    }),
  left_out_ms: z.int().min(0).meta({
    description:
      'Items up to this length may be missing: two and a half heartbeats (25,000), or more if the range has too many items.',
  }),
});

const Session = z.strictObject({
  required: z.boolean().meta({ description: 'Whether this installation requires tokens.' }),
  scopes: z
    .array(z.enum(SCOPES))
    .meta({ description: 'The scopes of the caller. Empty: the caller has to sign in.' }),
  token: z.string().nullable().meta({
    description:
      'Names the token of the caller, as the log and the list of corrections do; null without a token.',
  }),
  ends_at: time.meta({ description: 'The end of the session of the caller; null without a session.' }),
});

const Document = z.looseObject({}).meta({ description: 'The document.' });

export const PROCESSES_SCHEMAS = {
  Stats,
  ProcessHealth,
  StatsEvent,
  RecentStats: z.strictObject({ items: z.array(StatsThen).max(300) }),
  Process,
  Pipeline,
  UnwatchedTime,
  Mqtt,
  Alive,
  Readiness,
  Session,
  Document,
};
