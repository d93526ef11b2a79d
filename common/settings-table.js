import {
  addresses,
  brokerUrl,
  duration,
  flag,
  integer,
  matching,
  oneOf,
  readableFile,
  text,
  tokens,
} from './setting-readers.js';

/** @import { Reader } from './setting-readers.js' */

/**
 * One setting as it stands in the environment, `.env` and `.env.example`.
 *
 * @typedef {object} Setting
 * @property {string} help what it is, with its unit
 * @property {string} [fallback] the default, as it would be typed; none: unset
 * @property {Reader<unknown>} read
 * @property {boolean} [secret] may be given as NAME_FILE, the path of a file that holds it
 */

const CONSISTENCY_LEVELS = ['ONE', 'LOCAL_ONE', 'TWO', 'QUORUM', 'LOCAL_QUORUM', 'EACH_QUORUM', 'ALL'];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** Every setting there is; `.env.example` lists the same, and a test compares the two. @type {Record<string, Setting>} */
export const SETTINGS = {
  CQL_CONTACT_POINTS: {
    help: 'addresses of the cluster, host[:port], comma-separated; unset: a local engine',
    read: addresses,
  },
  CQL_LOCAL_DC: { help: "the driver's local data centre", fallback: 'datacenter1', read: text },
  CQL_USERNAME: { help: 'database role', read: text },
  CQL_PASSWORD: { help: 'its password', read: text, secret: true },
  CQL_KEYSPACE: {
    help: 'keyspace of all tables',
    fallback: 'iot',
    read: matching(/^[a-z][a-z0-9_]{0,47}$/, 'must be a lower-case CQL name of up to 48 characters'),
  },
  CQL_CONSISTENCY: {
    help: 'consistency level of reads and writes',
    fallback: 'LOCAL_QUORUM',
    read: oneOf(CONSISTENCY_LEVELS),
  },
  CQL_TLS_CA: {
    help: "PEM file of the authority that signed the cluster's certificates; turns TLS on",
    read: readableFile,
  },
  CQL_TLS_CERT: {
    help: 'PEM file of a certificate of our own, where the cluster demands that clients show one',
    read: readableFile,
  },
  CQL_TLS_KEY: { help: 'PEM file of its private key', read: readableFile },
  CQL_LOCAL_PORT: { help: 'CQL port of the local engine', fallback: '9042', read: integer(1, 65_535) },
  DATA_DIR: { help: 'where the local engine, logs and secrets live', fallback: '.data', read: text },
  MQTT_URL: {
    help: 'an external broker, mqtt://host:port or mqtts://host:port; unset: the embedded one',
    read: brokerUrl,
  },
  MQTT_USERNAME: {
    help: "user name at the broker; at the embedded one, the installation's own account",
    read: text,
  },
  MQTT_PASSWORD: { help: 'its password', read: text, secret: true },
  MQTT_CLIENT_ID: {
    help: 'client id at an external broker; fixed, and its own for each process',
    fallback: 'millrace-1',
    read: text,
  },
  MQTT_SHARE_GROUP: {
    help: 'name of the shared subscription',
    fallback: 'ingest',
    read: matching(/^[^/+#\s]+$/, 'must be a text without /, +, # and spaces'),
  },
  MQTT_SESSION_EXPIRY: {
    help: 'how long an external broker keeps our session',
    fallback: '7d',
    // MQTT 5 counts it in seconds, in 32 bits.
    read: duration('1s', '49710d'),
  },
  MQTT_TLS_CA: { help: "PEM file of the authority that signed the broker's certificate", read: readableFile },
  MQTT_HOST: { help: 'address that the embedded broker listens on', fallback: '127.0.0.1', read: text },
  MQTT_PORT: { help: 'port of the embedded broker', fallback: '1883', read: integer(0, 65_535) },
  MQTT_AUTH: {
    help: 'the embedded broker lets in devices with credentials, and MQTT_USERNAME, alone',
    fallback: 'false',
    read: flag,
  },
  MQTT_TLS_CERT: {
    help: "PEM file of the embedded broker's certificate, with those between it and the authority; turns TLS on",
    read: readableFile,
  },
  MQTT_TLS_KEY: { help: 'PEM file of its private key', read: readableFile },
  HTTP_HOST: { help: 'address that the API and the dashboard listen on', fallback: '127.0.0.1', read: text },
  HTTP_PORT: { help: 'their port', fallback: '8080', read: integer(0, 65_535) },
  HTTP_TLS_CERT: {
    help: 'PEM file of their certificate, with those between it and the authority; turns TLS on',
    read: readableFile,
  },
  HTTP_TLS_KEY: { help: 'PEM file of its private key', read: readableFile },
  TLS_ELSEWHERE: {
    help: 'without TLS, listen beyond loopback and send passwords there: something in front ends it, or the network is private by other means',
    fallback: 'false',
    read: flag,
  },
  API_TOKEN: {
    help: 'token that is good for everything over HTTP (Bearer, or the password of Basic); 16 characters or more where others reach it',
    read: text,
    secret: true,
  },
  READ_TOKENS: {
    help: 'tokens that may read, comma-separated',
    read: tokens,
    secret: true,
  },
  INGEST_TOKENS: {
    help: 'tokens that may send measurements over HTTP, comma-separated',
    read: tokens,
    secret: true,
  },
  SESSION_HOURS: {
    help: 'after signing in, the dashboard asks for the token again in so many hours',
    fallback: '12',
    read: integer(1, 336),
  },
  TRUST_PROXY: {
    help: 'how many proxies stand in front of HTTP: their X-Forwarded-For says who asks',
    fallback: '0',
    read: integer(0, 10),
  },
  HTTP_RATE_LIMIT: {
    help: 'most requests a second of one client address, as the mean of ten seconds',
    fallback: '100',
    read: integer(1, 1e6),
  },
  CURSOR_SECRET: {
    help: 'key that signs cursors; unset: random, kept under DATA_DIR',
    read: text,
    secret: true,
  },
  ROLE: {
    help: 'what this process does: ingest takes messages from the broker, http serves the API, all does both',
    fallback: 'all',
    read: oneOf(['all', 'ingest', 'http']),
  },
  SPARKPLUG: {
    help: 'this process takes Sparkplug B, as exactly one of an installation; default true where ROLE is all',
    read: flag,
  },
  AUTO_REGISTER: {
    help: 'register devices and sensors by their first message; default true on loopback',
    read: flag,
  },
  AUTO_REGISTER_MAX: { help: 'most devices registered that way', fallback: '100000', read: integer(0, 1e9) },
  MAX_MESSAGE_BYTES: {
    help: 'largest message taken, in bytes',
    fallback: '1048576',
    read: integer(1024, 256 * 1048576),
  },
  MAX_CLOCK_SKEW: {
    help: 'how far ahead of our clock a measurement may be',
    fallback: '5m',
    read: duration('0s', '1d'),
  },
  RELATIVE_TIMES: {
    help: 'take measurements whose time is relative to now, or none',
    fallback: 'true',
    read: flag,
  },
  INGEST_MAX_IN_FLIGHT: {
    help: 'most requests to the database in flight',
    fallback: '512',
    read: integer(1, 2048),
  },
  BATCH_DAYS: { help: 'retention of the table message, in days', fallback: '30', read: integer(4, 3650) },
  HISTORY_DAYS: { help: 'retention of history, in days', fallback: '365', read: integer(4, 7300) },
  LATEST_GROUPS: {
    help: 'partitions of latest and device; fixed by the first migration',
    fallback: '16',
    read: integer(1, 65_536),
  },
  LOG_LEVEL: {
    help: 'trace, debug, info, warn, error or fatal',
    fallback: 'info',
    read: oneOf(LOG_LEVELS),
  },
};
