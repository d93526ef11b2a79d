import { isLoopback, isLoopbackPoint } from '../../common/addresses.ts';
import { pairOf } from '../../common/settings/config.ts';
import { defineSettings, type Rule, type SettingsGroup } from '../../common/settings/group.ts';
import { halfPairs, inTheClear } from '../../common/settings/rules.ts';
import {
  addresses,
  flag,
  integer,
  matching,
  oneOf,
  readableFile,
  text,
  webAddress,
} from '../../common/settings/value-types.ts';

export const KAFKA_SETTINGS = defineSettings({
  title: 'Streaming to Kafka',
  shape: {
    STREAM_KAFKA: addresses().optional().meta({
      description:
        'Bootstrap addresses of a Kafka that gets committed samples, except imports of closed hours.',
      unset: 'off',
    }),
    STREAM_FORMAT: oneOf(['json', 'avro', 'packed'])
      .prefault('json')
      .describe(
        'Form of the records. avro is the single-object encoding, or that of SCHEMA_REGISTRY_URL; packed the bytes of the table message.',
      ),
    SCHEMA_REGISTRY_URL: webAddress().optional().meta({
      description:
        'Schema registry with the interface of Confluent. Avro records then have its framing: a zero byte and the id of the schema.',
      unset: 'none',
    }),
    SCHEMA_REGISTRY_USERNAME: text().optional().describe('User name at the schema registry.'),
    SCHEMA_REGISTRY_PASSWORD: text()
      .optional()
      .meta({ description: 'Password of SCHEMA_REGISTRY_USERNAME.', secret: true }),
    STREAM_EXPLODE: flag().prefault('false').describe('Sends one record for each sample. Not with packed.'),
    STREAM_LATEST: flag()
      .prefault('true')
      .describe('If true, the newest value of each sensor goes to a compacted topic.'),
    STREAM_TOPIC_PREFIX: matching(
      /^[a-zA-Z0-9._-]{1,100}$/,
      '1 to 100 of a to z, A to Z, 0 to 9, dot, _ and -',
    )
      .prefault('millrace')
      .describe('Prefix of all topic names.'),
    STREAM_QUEUE_BYTES: integer(1_048_576, 1_073_741_824, 'bytes')
      .prefault('67108864')
      .describe('Most bytes that wait for Kafka. The rest is sent once its hour has closed.'),
    STREAM_TLS: flag()
      .prefault('false')
      .describe('Connects to Kafka with TLS. STREAM_TLS_CA turns it on as well.'),
    STREAM_TLS_CA: readableFile().optional().meta({
      description: "PEM file of the authority that signed Kafka's certificates.",
      unset: 'the public ones',
    }),
    STREAM_TLS_CERT: readableFile()
      .optional()
      .describe('PEM file of our client certificate, for a Kafka that requires one.'),
    STREAM_TLS_KEY: readableFile().optional().describe('PEM file of the private key of STREAM_TLS_CERT.'),
    STREAM_SASL: oneOf(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])
      .prefault('PLAIN')
      .describe('How STREAM_USERNAME signs in.'),
    STREAM_USERNAME: text().optional().describe('User name at Kafka.'),
    STREAM_PASSWORD: text().optional().meta({ description: 'Password of STREAM_USERNAME.', secret: true }),
  },
  arrange: (v) => ({
    kafka: v.STREAM_KAFKA ?? null,
    format: v.STREAM_FORMAT,
    explode: v.STREAM_EXPLODE,
    latest: v.STREAM_LATEST,
    prefix: v.STREAM_TOPIC_PREFIX,
    queueBytes: v.STREAM_QUEUE_BYTES,
    tls: v.STREAM_TLS || v.STREAM_TLS_CA !== undefined,
    tlsCa: v.STREAM_TLS_CA,
    /** If not null, the connection uses a client certificate. */
    certificate: pairOf(v.STREAM_TLS_CERT, v.STREAM_TLS_KEY),
    sasl: v.STREAM_SASL,
    username: v.STREAM_USERNAME,
    password: v.STREAM_PASSWORD,
    /** Null: there is no schema registry, and a record names its schema by a fingerprint. */
    registry:
      v.SCHEMA_REGISTRY_URL === undefined
        ? null
        : {
            url: v.SCHEMA_REGISTRY_URL.replace(/\/+$/, ''),
            username: v.SCHEMA_REGISTRY_USERNAME,
            password: v.SCHEMA_REGISTRY_PASSWORD,
          },
  }),
  rules(stream, { tlsElsewhere }) {
    const isOpen = !stream.tls && !(stream.kafka ?? []).every(isLoopbackPoint);
    return [
      [stream.username && !stream.password, 'STREAM_PASSWORD must be set when STREAM_USERNAME is set'],
      [stream.password && !stream.username, 'STREAM_USERNAME must be set when STREAM_PASSWORD is set'],
      ...halfPairs('STREAM', stream.certificate),
      [stream.certificate && !stream.tls, 'STREAM_TLS must be true when STREAM_TLS_CERT is set'],
      [
        stream.explode && stream.format === 'packed',
        'STREAM_EXPLODE must be false when STREAM_FORMAT is packed: a block holds many samples',
      ],
      [
        !tlsElsewhere && stream.password && isOpen,
        inTheClear('STREAM_TLS must be true', 'STREAM_PASSWORD', 'Kafka'),
      ],
      ...rulesOfRegistry(stream.registry, stream.format, tlsElsewhere),
    ];
  },
});

export type KafkaSettings = typeof KAFKA_SETTINGS extends SettingsGroup<infer T> ? T : never;

function rulesOfRegistry(
  registry: { url: string; username: string | undefined; password: string | undefined } | null,
  format: string,
  tlsElsewhere: boolean,
): Rule[] {
  if (!registry) return [];
  const { url, username, password } = registry;
  const { protocol, hostname } = new URL(url);
  return [
    [format !== 'avro', 'STREAM_FORMAT must be avro when SCHEMA_REGISTRY_URL is set'],
    [username && !password, 'SCHEMA_REGISTRY_PASSWORD must be set when SCHEMA_REGISTRY_USERNAME is set'],
    [password && !username, 'SCHEMA_REGISTRY_USERNAME must be set when SCHEMA_REGISTRY_PASSWORD is set'],
    [
      !tlsElsewhere && password && protocol !== 'https:' && !isLoopback(hostname),
      inTheClear('SCHEMA_REGISTRY_URL must be https://', 'SCHEMA_REGISTRY_PASSWORD', 'a registry'),
    ],
  ];
}
