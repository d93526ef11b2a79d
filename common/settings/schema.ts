import { z } from 'zod';
import {
  addresses,
  brokerUrl,
  duration,
  flag,
  integer,
  matching,
  oneOf,
  readableFile,
  someOf,
  text,
  tokens,
  webAddress,
} from './value-types.ts';

/**
 * The settings of the database. This object and those below define every setting, group by group. `.prefault` is the default as a
 * person types it. `unset` describes the behavior without a value. A setting with `secret` may also be given as NAME_FILE, the path of a
 * file that holds the secret. `npm run docs:reference` writes `.env.example` from these objects, and the manual shows them as tables.
 */
const DATABASE = {
  CQL_CONTACT_POINTS: addresses()
    .optional()
    .meta({ description: 'Addresses of the cluster.', unset: 'a local database' }),
  CQL_LOCAL_DC: text().prefault('datacenter1').describe("The driver's local data center."),
  CQL_USERNAME: text().optional().describe('Database role.'),
  CQL_PASSWORD: text().optional().meta({ description: 'Password of the database role.', secret: true }),
  CQL_KEYSPACE: matching(/^[a-z][a-z0-9_]{0,47}$/, 'a lower-case CQL name of up to 48 characters')
    .prefault('iot')
    .describe('Keyspace of all tables.'),
  CQL_CONSISTENCY: oneOf(['ONE', 'LOCAL_ONE', 'TWO', 'QUORUM', 'LOCAL_QUORUM', 'EACH_QUORUM', 'ALL'])
    .prefault('LOCAL_QUORUM')
    .describe('Consistency level of reads and writes.'),
  CQL_TLS_CA: readableFile()
    .optional()
    .describe("PEM file of the authority that signed the cluster's certificates. It turns TLS on."),
  CQL_TLS_CERT: readableFile()
    .optional()
    .describe('PEM file of our client certificate, for a cluster that requires one.'),
  CQL_TLS_KEY: readableFile().optional().describe('PEM file of the private key of CQL_TLS_CERT.'),
  CQL_LOCAL_PORT: integer(1, 65_535).prefault('9042').describe('CQL port of the local database.'),
  DATA_DIR: text('path of a directory')
    .prefault('.data')
    .describe(
      'Directory of the local database, logs and secrets, and of the ports of a running npm run dev.',
    ),
};

const BROKER = {
  MQTT_URL: brokerUrl().optional().meta({ description: 'An external broker.', unset: 'the embedded broker' }),
  MQTT_USERNAME: text()
    .optional()
    .describe("User name at the broker. At the embedded broker it is the installation's own account."),
  MQTT_PASSWORD: text().optional().meta({ description: 'Password of MQTT_USERNAME.', secret: true }),
  MQTT_CLIENT_ID: text()
    .prefault('millrace-1')
    .describe('Client id at an external broker. It never changes, and each process has its own.'),
  MQTT_SHARE_GROUP: matching(/^[^/+#\s]+$/, 'a text without /, +, # and spaces')
    .prefault('ingest')
    .describe('Name of the shared subscription.'),
  // MQTT 5 encodes the session expiry as seconds in 32 bits.
  MQTT_SESSION_EXPIRY: duration('1s', '49710d')
    .prefault('7d')
    .describe('How long an external broker keeps our session.'),
  MQTT_TLS_CA: readableFile()
    .optional()
    .describe("PEM file of the authority that signed the broker's certificate."),
  MQTT_HOST: text('host name or address')
    .prefault('127.0.0.1')
    .describe('Address that the embedded broker listens on.'),
  MQTT_PORT: integer(0, 65_535).prefault('1883').describe('Port of the embedded broker. 0 is any free port.'),
  MQTT_AUTH: flag()
    .prefault('false')
    .describe('If true, the embedded broker accepts only devices with an account, and MQTT_USERNAME.'),
  MQTT_TLS_CERT: readableFile()
    .optional()
    .describe(
      "PEM file of the embedded broker's certificate with its intermediate certificates. It turns TLS on.",
    ),
  MQTT_TLS_KEY: readableFile().optional().describe('PEM file of the private key of MQTT_TLS_CERT.'),
};

const LIVE = {
  LIVE_ALWAYS: flag().prefault('false').meta({
    description:
      'Publishes every change on iot/live/{device id} of an external broker. Otherwise only changes of devices that readers of the API follow.',
  }),
  LIVE_TOPICS: someOf(['name', 'samples', 'sensors']).optional().meta({
    description:
      'Live topics next to iot/live/{device id}: the same by name, all samples, the newest value of each sensor.',
    unset: 'all while a client subscribes to them at the embedded broker, none at an external one',
  }),
  LIVE_RETAIN: flag()
    .prefault('false')
    .describe('Retains the newest value of each sensor on iot/live/{device}/sensors/{sensor}.'),
};

const HTTP = {
  HTTP_HOST: text('host name or address')
    .prefault('127.0.0.1')
    .describe('Address that the API and the dashboard listen on.'),
  HTTP_PORT: integer(0, 65_535)
    .prefault('8080')
    .describe('Port of the API and the dashboard. 0 is any free port.'),
  HTTP_TLS_CERT: readableFile()
    .optional()
    .describe('PEM file of their certificate with its intermediate certificates. It turns TLS on.'),
  HTTP_TLS_KEY: readableFile().optional().describe('PEM file of the private key of HTTP_TLS_CERT.'),
  TLS_ELSEWHERE: flag()
    .prefault('false')
    .describe(
      'Allows connections beyond loopback without TLS, because a proxy ends TLS or because the network is private.',
    ),
  API_TOKEN: text('text; 16 characters or more beyond loopback').optional().meta({
    description: 'Token for everything over HTTP, as Bearer or as the password of Basic.',
    secret: true,
  }),
  API_URL: webAddress().optional().meta({
    description: 'Address of the API, for commands. They send API_TOKEN to it.',
    unset: 'this machine, with HTTP_PORT',
  }),
  READ_TOKENS: tokens().optional().meta({ description: 'Tokens that may read.', secret: true }),
  INGEST_TOKENS: tokens()
    .optional()
    .meta({ description: 'Tokens that may send measurements over HTTP.', secret: true }),
  CORRECT_TOKENS: tokens().optional().meta({
    description: 'Tokens that may send, replace and remove measurements over HTTP.',
    secret: true,
  }),
  SESSION_HOURS: integer(1, 336, 'hours')
    .prefault('12')
    .describe('How long a person stays signed in to the dashboard.'),
  TRUST_PROXY: integer(0, 10, 'proxies')
    .prefault('0')
    .describe('How many proxies stand in front of HTTP. Their X-Forwarded-For names the client.'),
  HTTP_RATE_LIMIT: integer(1, 1e6, 'requests/s')
    .prefault('100')
    .describe('Most requests of one client address, as the mean of ten seconds.'),
  CURSOR_SECRET: text()
    .optional()
    .meta({ description: 'Key that signs cursors.', secret: true, unset: 'random, kept under DATA_DIR' }),
};

const PROCESS = {
  ROLE: oneOf(['all', 'ingest', 'http'])
    .prefault('all')
    .describe(
      'The work of this process: ingest takes messages from the broker, http serves the API, all does both.',
    ),
};

const INGEST = {
  AUTO_REGISTER: flag().optional().meta({
    description: 'Registers devices and sensors by their first message.',
    unset: 'true when the broker is on loopback',
  }),
  AUTO_REGISTER_MAX: integer(0, 1e9, 'devices')
    .prefault('100000')
    .describe('Most devices that register by their first message.'),
  MAX_MESSAGE_BYTES: integer(1024, 256 * 1_048_576, 'bytes')
    .prefault('1048576')
    .describe('Largest message taken.'),
  MAX_CLOCK_SKEW: duration('0s', '1d')
    .prefault('5m')
    .describe('How far ahead of our clock the time of a measurement may be.'),
  RELATIVE_TIMES: flag()
    .prefault('true')
    .describe('Accepts measurements whose time is relative to now, or missing.'),
  TS_UNIT: oneOf(['ms', 's'])
    .prefault('ms')
    .describe('Unit of a ts that is a number, in plain JSON and maps of sensors: since 1970.'),
  MQTT_REPLACE_DEVICES: tokens().optional().meta({
    description:
      'Names or ids of devices. Values on their topics replace stored ones if the message has the user property replace of MQTT 5.',
    unset: 'no device may replace values over MQTT',
  }),
  INGEST_MAX_IN_FLIGHT: integer(1, 2048, 'requests')
    .prefault('512')
    .describe('Most requests to the database in flight.'),
  INGEST_JOURNAL: oneOf(['busy', 'always', 'never'])
    .prefault('busy')
    .describe(
      'When small messages are acknowledged by a row that they share, before their own rows are written: while writes wait for the database, always or never.',
    ),
};

const RETENTION = {
  BATCH_DAYS: integer(4, 3650, 'days').prefault('30').describe('Retention of the table message.'),
  HISTORY_DAYS: integer(4, 7300, 'days')
    .prefault('365')
    .describe('Retention of history. Not less than BATCH_DAYS.'),
  LATEST_GROUPS: integer(1, 65_536, 'partitions')
    .prefault('16')
    .describe('Partitions of the tables latest and device. The first migration fixes it.'),
};

const LOGGING = {
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .prefault('info')
    .describe('The least severe log lines that are written.'),
  LOG_FORMAT: oneOf(['auto', 'json'])
    .prefault('auto')
    .describe(
      'Form of the log. auto is for people on a terminal, where pino-pretty is installed, and JSON elsewhere.',
    ),
};

const GROUPS = {
  'The database': DATABASE,
  'The broker': BROKER,
  'Live topics': LIVE,
  HTTP,
  'This process': PROCESS,
  Ingest: INGEST,
  'Retention, stored by the first npm run migrate': RETENTION,
  Logging: LOGGING,
};

export const SCHEMA = z.object({
  ...DATABASE,
  ...BROKER,
  ...LIVE,
  ...HTTP,
  ...PROCESS,
  ...INGEST,
  ...RETENTION,
  ...LOGGING,
});

export type Values = z.infer<typeof SCHEMA>;

/** Optional, or with a default. */
export type SettingType = z.ZodOptional<z.ZodType> | z.ZodPrefault<z.ZodType>;

export interface Setting {
  group: string;
  help: string;
  /** with range and unit */
  values: string;
  /** as a person types it */
  fallback: string | undefined;
  /** behavior without a value, if there is no default */
  unset: string | undefined;
  secret: boolean;
}

export const SETTINGS: Record<string, Setting> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, shape]) =>
    Object.entries(shape).map(([name, schema]) => [name, aboutOf(group, schema)]),
  ),
);

export function aboutOf(group: string, schema: SettingType): Setting {
  const { description = '', secret, unset } = schema.meta() ?? {};
  const kind = schema.unwrap().meta() ?? {};
  return {
    group,
    help: description,
    values: String(kind['values']),
    fallback: schema.def.type === 'prefault' ? String(schema.def.defaultValue) : undefined,
    unset: unset === undefined ? undefined : String(unset),
    secret: secret === true,
  };
}
