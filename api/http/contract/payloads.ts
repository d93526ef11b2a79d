import { z } from 'zod';
import { MAX_SAMPLES_PER_MESSAGE, MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import { SCHEMAS } from './schemas/index.ts';

/**
 * Schemas of messages without errors. If a message contains valid and invalid measurements, the decoders of `api/ingest`, which are faster,
 * accept the valid ones. A property test compares the schemas with the decoders.
 */

const { Name } = SCHEMAS;

const PlainMeasurement = z
  .looseObject({
    sensor_id: Name.meta({ description: 'The sensor: a UUID in lower case, or a name.' }),
    ts: z
      .union([
        z.int().meta({ description: 'Epoch milliseconds. With `TS_UNIT=s` epoch seconds.' }),
        z
          .string()
          .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$/)
          .meta({ description: 'ISO 8601. Without a zone it is UTC.' }),
      ])
      .optional()
      .meta({ description: 'The time of the measurement. Default: the time of receipt.' }),
    value: z.union([z.number(), z.boolean()]).meta({ description: '`true` is stored as 1, `false` as 0.' }),
  })
  .meta({ examples: [{ sensor_id: 'temperature', ts: '2026-11-21T08:00:00Z', value: 21.5 }] });

/** An object with one of these members is a measurement, or SenML outside a pack, and no map of sensors. */
const OTHERS = 'sensor_id|value|n|bn';

/** An object with a SenML label makes its array a pack of SenML. */
const OTHERS_IN_ARRAY = `${OTHERS}|v|bt|vb|vs|vd|bver|s|bv|bs|bu|u|t`;

const ArrayElement = z.union([z.number(), z.boolean(), z.string(), z.null()]);

/** `others`: names that a sensor in a map cannot have. */
const sensorMap = (others: string) =>
  z.record(
    z.string().regex(new RegExp(`^(?!(?:${others})$)`)),
    z.union([
      z.number(),
      z.boolean(),
      z.string(),
      z.null(),
      z.looseObject({}),
      z.array(ArrayElement).max(100),
    ]),
  );

const SensorMap = sensorMap(OTHERS).meta({
  description: `Maps names of sensors to values. Keys of nested objects, of at most 8 levels, and indexes of arrays are joined by dots. A
dot in a key is escaped by a backslash, unless it stands between two digits. \`true\` is stored as 1, \`false\` as 0. Texts and \`null\` are
skipped, but a number in quotation marks is refused, and so is an array of objects. \`ts\` is the time of all values, as in
a plain measurement, or a number in s, ms, µs or ns. Without it, a number or text \`time\` or \`timestamp\` is the time.`,
  examples: [
    {
      ts: '2026-11-21T08:00:00Z',
      temperature: 21.5,
      humidity: 40,
      battery: { level: 80, charging: false },
    },
  ],
});

const SensorMapInArray = sensorMap(OTHERS_IN_ARRAY).meta({
  description: 'As alone, without the labels of SenML.',
});

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

export const words = Name.nullish();

export const described = {
  name: words,
  type: words,
  unit: words,
  label: words.meta({ description: 'A text for people. It identifies nothing.' }),
  interval_ms: z
    .int32()
    .positive()
    .nullish()
    .meta({ description: 'The interval of its measurements, in ms.' }),
};

export const BirthSensor = z.union([
  z.looseObject({ sensor_id: Name, ...described }),
  z.looseObject({ sensor_id: z.null().optional(), ...described, name: Name }),
]);

const SignIn = z
  .strictObject({ token: z.string().min(1).max(4096) })
  .meta({ examples: [{ token: 'a token from the settings' }] });

const WantedDevice = z
  .looseObject({
    site: words,
    label: described.label,
    sensors: z.array(BirthSensor).max(MAX_SENSORS_PER_DEVICE).optional(),
  })
  .meta({
    description: 'The description of a device. Members that are left out, or null, stay unchanged.',
    examples: [
      {
        site: 'home',
        label: 'The desk at the window',
        sensors: [{ sensor_id: 'temperature', type: 'temperature', unit: 'Cel', label: 'Under the lamp' }],
      },
    ],
  });

const WantedSensor = z
  .looseObject({
    type: words,
    unit: words,
    label: described.label,
    interval_ms: described.interval_ms,
  })
  .meta({
    description: 'The description of a sensor. Members that are left out, or null, stay unchanged.',
    examples: [{ type: 'temperature', unit: 'Cel', label: 'Under the lamp' }],
  });

const PlainMeasurements = z.union([PlainMeasurement, z.array(PlainMeasurement).max(MAX_SAMPLES_PER_MESSAGE)]);

const SensorMaps = z.union([SensorMap, z.array(SensorMapInArray).max(MAX_SAMPLES_PER_MESSAGE)]);

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

/** HTTP bodies by their names in the documents. */
export const PAYLOADS = {
  PlainMeasurement,
  PlainMeasurements,
  SensorMap,
  SensorMapInArray,
  SensorMaps,
  SenmlRecord,
  SenmlPack,
  Measurements: z.union([PlainMeasurements, SensorMaps, SenmlPack]).meta({
    description:
      'Plain measurements, maps of sensors, or a pack of SenML. The first record of a pack needs a label of SenML.',
  }),
  SignIn,
  WantedDevice,
  WantedSensor,
};
