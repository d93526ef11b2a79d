import { z } from 'zod';
import { MAX_SAMPLES_PER_MESSAGE, MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.js';
import { MAX_DEVICES } from '../../access/credentials/credential-service.js';
import { BUCKETS } from '../../observability/process-stats.js';
import { SCHEMAS } from './schemas.js';

/**
 * The schemas of payloads. `api/ingest` has its own decoders, for speed, and takes the good measurements of a message with wrong ones.
 * These schemas describe messages without errors. A property test compares the two.
 */

const { Name } = SCHEMAS;

const PlainMeasurement = z
  .looseObject({
    sensor_id: Name.meta({ description: 'The sensor: a UUID in lower case, or a name.' }),
    ts: z
      .union([
        z.int().meta({ description: 'Epoch milliseconds.' }),
        z
          .string()
          .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$/)
          .meta({ description: 'ISO 8601. Without a zone it is UTC.' }),
      ])
      .optional()
      .meta({ description: 'The time of the measurement. Default: the time of receipt.' }),
    value: z.number(),
  })
  .meta({ examples: [{ sensor_id: 'temperature', ts: '2026-11-21T08:00:00Z', value: 21.5 }] });

const SenmlRecord = z
  .looseObject({
    bn: z.string().optional().meta({ description: 'Base name, from this record on.' }),
    bt: z.number().optional().meta({ description: 'Base time in seconds, from this record on.' }),
    bv: z.number().optional().meta({ description: 'Base value, from this record on.' }),
    bver: z.number().max(10).optional().meta({ description: 'Version of SenML.' }),
    n: z
      .string()
      .optional()
      .meta({ description: 'The sensor is `bn + n`: a UUID in lower case, or a name.' }),
    t: z
      .number()
      .optional()
      .meta({ description: 'The time is `bt + t` in seconds. Below 2^28 it is relative to now.' }),
    v: z.number().optional().meta({ description: 'The value is `bv + v`.' }),
    vb: z.boolean().optional().meta({ description: 'The value is 0 or 1.' }),
  })
  .meta({
    description:
      'A record of RFC 8428. Texts and data, `vs` and `vd`, are skipped. Units come from births. A label that ends in `_` refuses the whole pack.',
  });

const words = Name.nullish();

const described = {
  name: words,
  type: words,
  unit: words,
  interval_ms: z
    .int32()
    .positive()
    .nullish()
    .meta({ description: 'The interval of its measurements, in ms.' }),
};

const BirthSensor = z.union([
  z.looseObject({ sensor_id: Name, ...described }),
  z.looseObject({ sensor_id: z.null().optional(), ...described, name: Name }),
]);

const session = z.unknown().optional().meta({
  description:
    'The time when the device connected, in epoch milliseconds or ISO 8601. The newest session wins. Without a valid time it is the time of receipt.',
});

const Birth = z
  .looseObject({
    session,
    name: words,
    site: words,
    sensors: z.array(BirthSensor).max(MAX_SENSORS_PER_DEVICE).optional(),
  })
  .meta({
    description: 'The description of a device. Members that are left out stay unchanged.',
    examples: [
      {
        session: 1795680000000,
        name: 'My desk',
        site: 'home',
        sensors: [{ sensor_id: 'temperature', type: 'temperature', unit: 'Cel', interval_ms: 1000 }],
      },
    ],
  });

const Status = z
  .looseObject({ state: z.enum(['online', 'offline']), session })
  .meta({ examples: [{ state: 'online', session: 1795680000000 }] });

const HostState = z
  .strictObject({ online: z.boolean(), timestamp: z.int() })
  .meta({ description: 'Whether Millrace listens to edge nodes, and since when in epoch milliseconds.' });

const LiveItems = z.array(SCHEMAS.LatestItem).min(1);

const { samples_per_s, refused_per_s, in_flight, window, window_limit, waiting, readers } =
  SCHEMAS.Stats.shape;

const StatsSnapshot = z
  .strictObject({
    samples_per_s,
    refused_per_s,
    in_flight,
    window,
    window_limit,
    waiting,
    readers,
    commits: z
      .array(
        z.tuple([
          z
            .int()
            .min(0)
            .max(BUCKETS - 1),
          z.int().positive(),
        ]),
      )
      .meta({
        description:
          'Histogram of the times from the receipt of messages to their commit: pairs of a bucket and a count. Bucket b has times from 2^(b / 16) to 2^((b + 1) / 16) microseconds.',
      }),
  })
  .meta({ description: 'The rates of one process over the last five seconds.' });

const SignIn = z
  .strictObject({ token: z.string().min(1).max(4096) })
  .meta({ examples: [{ token: 'a token from the settings' }] });

const WantedCredential = z
  .strictObject({
    account: Name.meta({ description: 'The device: a UUID in lower case, or a name.' }),
    devices: z.array(Name).max(MAX_DEVICES).optional().meta({
      description: 'Further devices whose topics the account may use, such as those behind a gateway.',
    }),
  })
  .meta({ examples: [{ account: 'gateway-7', devices: ['pump', 'valve'] }] });

const PlainMeasurements = z.union([PlainMeasurement, z.array(PlainMeasurement).max(MAX_SAMPLES_PER_MESSAGE)]);

const SenmlPack = z
  .array(SenmlRecord)
  .max(MAX_SAMPLES_PER_MESSAGE)
  .meta({
    examples: [
      [
        { bn: 'temperature', bt: 1795680000, v: 21.5 },
        { t: 1, v: 21.6 },
      ],
    ],
  });

/** The schemas of HTTP bodies by their names in the documents. */
export const PAYLOADS = {
  PlainMeasurement,
  PlainMeasurements,
  SenmlRecord,
  SenmlPack,
  Measurements: z.union([PlainMeasurements, SenmlPack]).meta({
    description: 'Plain measurements, or a pack of SenML. The first record of a pack needs a label of SenML.',
  }),
  SignIn,
  WantedCredential,
};

/** The schemas of messages that only MQTT carries. */
export const MESSAGES = { BirthSensor, Birth, Status, HostState, LiveItems, StatsSnapshot };
