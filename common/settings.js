import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { parseDuration } from './durations.js';
import { MillraceError } from './errors.js';

/**
 * One setting as it stands in the environment, `.env` and `.env.example`.
 *
 * @typedef {object} Setting
 * @property {string} help what it is, with its unit
 * @property {string} [fallback] the default, as it would be typed; none: unset
 * @property {(text: string) => unknown} read gives the value, or throws an Error whose message says what is taken
 * @property {boolean} [secret] may be given as NAME_FILE, the path of a file that holds it
 */

/** @param {string} says @returns {never} */
const refuse = (says) => {
  throw new Error(says);
};

const text = (/** @type {string} */ value) => value;
const flag = (/** @type {string} */ value) =>
  value === 'true' ? true : value === 'false' ? false : refuse('is true or false');
const duration = (/** @type {string} */ value) =>
  parseDuration(value) ?? refuse('is a duration such as 5m or 7d');
/** @param {number} min @param {number} max */
const integer = (min, max) => (/** @type {string} */ value) => {
  const number = Number(value);
  return value.trim() !== '' && Number.isInteger(number) && number >= min && number <= max
    ? number
    : refuse(`is a whole number from ${min} to ${max}`);
};
/** @param {string[]} words */
const oneOf = (words) => (/** @type {string} */ value) =>
  words.includes(value) ? value : refuse(`is one of ${words.join(', ')}`);
/** @param {RegExp} pattern @param {string} says */
const matching = (pattern, says) => (/** @type {string} */ value) =>
  pattern.test(value) ? value : refuse(says);
const list = (/** @type {string} */ value) => value.split(',').map((item) => item.trim());

const CONSISTENCY_LEVELS = ['ONE', 'LOCAL_ONE', 'TWO', 'QUORUM', 'LOCAL_QUORUM', 'EACH_QUORUM', 'ALL'];

/** Every setting there is; `.env.example` lists the same, and a test compares the two. @type {Record<string, Setting>} */
export const SETTINGS = {
  CQL_CONTACT_POINTS: {
    help: 'addresses of the cluster, host[:port], comma-separated; unset: a local engine',
    read: list,
  },
  CQL_LOCAL_DC: { help: "the driver's local data centre", fallback: 'datacenter1', read: text },
  CQL_USERNAME: { help: 'database role', read: text },
  CQL_PASSWORD: { help: 'its password', read: text, secret: true },
  CQL_KEYSPACE: {
    help: 'keyspace of all tables',
    fallback: 'iot',
    read: matching(/^[a-z][a-z0-9_]{0,47}$/, 'is a lower-case CQL name of up to 48 characters'),
  },
  CQL_CONSISTENCY: {
    help: 'consistency level of reads and writes',
    fallback: 'LOCAL_QUORUM',
    read: oneOf(CONSISTENCY_LEVELS),
  },
  CQL_TLS_CA: {
    help: "PEM file of the authority that signed the cluster's certificates; turns TLS on",
    read: text,
  },
  CQL_LOCAL_PORT: { help: 'CQL port of the local engine', fallback: '9042', read: integer(1, 65_535) },
  DATA_DIR: { help: 'where the local engine, logs and secrets live', fallback: '.data', read: text },
  MQTT_URL: {
    help: 'an external broker, mqtt://host:port or mqtts://host:port; unset: the embedded one',
    read: matching(/^mqtts?:\/\/[^\s/]+$/, 'is mqtt://host:port or mqtts://host:port'),
  },
  MQTT_USERNAME: { help: 'user name at the broker', read: text },
  MQTT_PASSWORD: { help: 'its password', read: text, secret: true },
  MQTT_CLIENT_ID: {
    help: 'client id at an external broker; fixed, and its own for each process',
    fallback: 'millrace-1',
    read: text,
  },
  MQTT_SHARE_GROUP: {
    help: 'name of the shared subscription',
    fallback: 'ingest',
    read: matching(/^[^/+#\s]+$/, 'has no /, +, # or spaces'),
  },
  MQTT_SESSION_EXPIRY: {
    help: 'how long an external broker keeps our session',
    fallback: '7d',
    read: duration,
  },
  MQTT_TLS_CA: { help: "PEM file of the authority that signed the broker's certificate", read: text },
  MQTT_HOST: { help: 'address that the embedded broker listens on', fallback: '127.0.0.1', read: text },
  MQTT_PORT: { help: 'port of the embedded broker', fallback: '1883', read: integer(0, 65_535) },
  MQTT_AUTH: {
    help: 'the embedded broker demands MQTT_USERNAME and MQTT_PASSWORD',
    fallback: 'false',
    read: flag,
  },
  HTTP_HOST: { help: 'address that the API and the dashboard listen on', fallback: '127.0.0.1', read: text },
  HTTP_PORT: { help: 'their port', fallback: '8080', read: integer(0, 65_535) },
  API_TOKEN: {
    help: 'token that every HTTP client must show (Bearer, or the password of Basic)',
    read: text,
    secret: true,
  },
  CURSOR_SECRET: {
    help: 'key that signs cursors; unset: random, kept under DATA_DIR',
    read: text,
    secret: true,
  },
  ROLE: {
    help: 'what this process does: all, ingest or http',
    fallback: 'all',
    read: oneOf(['all', 'ingest', 'http']),
  },
  SPARKPLUG: { help: 'this process takes Sparkplug B; default true where ROLE is all', read: flag },
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
  MAX_CLOCK_SKEW: { help: 'how far ahead of our clock a measurement may be', fallback: '5m', read: duration },
  RELATIVE_TIMES: {
    help: 'take measurements whose time is relative to now, or none',
    fallback: 'true',
    read: flag,
  },
  INGEST_MAX_IN_FLIGHT: {
    help: 'most requests to the database in flight',
    fallback: '256',
    read: integer(1, 2048),
  },
  BATCH_DAYS: { help: 'retention of measurement_batch, in days', fallback: '30', read: integer(4, 3650) },
  HISTORY_DAYS: { help: 'retention of history, in days', fallback: '365', read: integer(4, 36_500) },
  LATEST_GROUPS: {
    help: 'partitions of latest and device; fixed by the first migration',
    fallback: '16',
    read: integer(1, 65_536),
  },
  LOG_LEVEL: {
    help: 'trace, debug, info, warn, error or fatal',
    fallback: 'info',
    read: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  },
};

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/** @param {string} host @returns {boolean} */
export const isLoopback = (host) => LOOPBACK.test(host);

/**
 * Reads all settings; every problem is reported at once, by name.
 *
 * @param {NodeJS.ProcessEnv} [environment]
 * @param {{ envFile?: string }} [options] default: `.env` in the working directory, if it is there
 * @throws {MillraceError} `bad_settings`
 */
export function readSettings(environment = process.env, { envFile = '.env' } = {}) {
  const given = { ...readEnvFile(envFile), ...environment };
  /** @type {string[]} */
  const problems = [];
  const values = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => [name, readSetting(name, setting, given, problems)]),
  );
  const config = problems.length === 0 ? arrange(values) : null;
  if (config) problems.push(...contradictions(config));
  if (!config || problems.length > 0) {
    throw new MillraceError(
      'bad_settings',
      `Settings to mend:\n${problems.map((one) => `  ${one}`).join('\n')}`,
    );
  }
  return config;
}

/** @typedef {ReturnType<typeof arrange>} Config */

/** @param {string} path @returns {Record<string, string>} */
function readEnvFile(path) {
  try {
    return parseDotenv(readFileSync(path));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return {};
    throw new MillraceError('bad_settings', `${path} cannot be read: ${error}`, { cause: error });
  }
}

/** @param {string} name @param {Setting} setting @param {NodeJS.ProcessEnv} given @param {string[]} problems */
function readSetting(name, setting, given, problems) {
  try {
    const file = setting.secret ? given[`${name}_FILE`] : undefined;
    const value = file ? readFileSync(file, 'utf8').trim() : given[name] || setting.fallback;
    return value === undefined ? undefined : setting.read(value);
  } catch (error) {
    problems.push(`${name} ${/** @type {Error} */ (error).message}`);
    return undefined;
  }
}

/** @param {Record<string, any>} v the values by their names */
function arrange(v) {
  const brokerHost = v.MQTT_URL ? new URL(v.MQTT_URL).hostname : v.MQTT_HOST;
  return {
    cql: {
      /** @type {string[] | null} */
      contactPoints: v.CQL_CONTACT_POINTS ?? null,
      /** @type {string} */ localDc: v.CQL_LOCAL_DC,
      /** @type {string | undefined} */ username: v.CQL_USERNAME,
      /** @type {string | undefined} */ password: v.CQL_PASSWORD,
      /** @type {string} */ keyspace: v.CQL_KEYSPACE,
      /** @type {string} */ consistency: v.CQL_CONSISTENCY,
      /** @type {string | undefined} */ tlsCa: v.CQL_TLS_CA,
      /** @type {number} */ localPort: v.CQL_LOCAL_PORT,
    },
    dataDir: resolve(v.DATA_DIR),
    mqtt: {
      /** @type {string | undefined} */ url: v.MQTT_URL,
      /** @type {string | undefined} */ username: v.MQTT_USERNAME,
      /** @type {string | undefined} */ password: v.MQTT_PASSWORD,
      /** @type {string} */ clientId: v.MQTT_CLIENT_ID,
      /** @type {string} */ shareGroup: v.MQTT_SHARE_GROUP,
      sessionExpirySeconds: Math.round(v.MQTT_SESSION_EXPIRY / 1000),
      /** @type {string | undefined} */ tlsCa: v.MQTT_TLS_CA,
      /** @type {string} */ host: v.MQTT_HOST,
      /** @type {number} */ port: v.MQTT_PORT,
      /** @type {boolean} */ auth: v.MQTT_AUTH,
    },
    http: {
      /** @type {string} */ host: v.HTTP_HOST,
      /** @type {number} */ port: v.HTTP_PORT,
      /** @type {string | undefined} */ apiToken: v.API_TOKEN,
      /** @type {string | undefined} */ cursorSecret: v.CURSOR_SECRET,
    },
    /** @type {'all' | 'ingest' | 'http'} */ role: v.ROLE,
    /** @type {boolean} */ sparkplug: v.SPARKPLUG ?? v.ROLE === 'all',
    ingest: {
      /** @type {boolean} */ autoRegister: v.AUTO_REGISTER ?? isLoopback(brokerHost),
      /** @type {number} */ autoRegisterMax: v.AUTO_REGISTER_MAX,
      /** @type {number} */ maxMessageBytes: v.MAX_MESSAGE_BYTES,
      /** @type {number} */ maxClockSkewMs: v.MAX_CLOCK_SKEW,
      /** @type {boolean} */ relativeTimes: v.RELATIVE_TIMES,
      /** @type {number} */ maxInFlight: v.INGEST_MAX_IN_FLIGHT,
    },
    retention: {
      /** @type {number} */ batchDays: v.BATCH_DAYS,
      /** @type {number} */ historyDays: v.HISTORY_DAYS,
      /** @type {number} */ latestGroups: v.LATEST_GROUPS,
    },
    /** @type {string} */ logLevel: v.LOG_LEVEL,
  };
}

/** @param {Config} config @returns {string[]} what is right by itself and wrong together */
function contradictions({ cql, mqtt, http, role, retention }) {
  const problems = [];
  if (!isLoopback(http.host) && !http.apiToken && role !== 'ingest') {
    problems.push('API_TOKEN must be set where HTTP_HOST is beyond loopback');
  }
  if (!mqtt.url && !isLoopback(mqtt.host) && !mqtt.auth) {
    problems.push('MQTT_AUTH must be true where MQTT_HOST is beyond loopback');
  }
  if (mqtt.auth && !mqtt.url && !(mqtt.username && mqtt.password)) {
    problems.push('MQTT_USERNAME and MQTT_PASSWORD must be set where MQTT_AUTH is true');
  }
  if (role !== 'all') {
    if (!http.cursorSecret) problems.push(`CURSOR_SECRET must be set where ROLE is ${role}`);
    if (!mqtt.url) problems.push(`MQTT_URL must be set where ROLE is ${role}`);
    if (!cql.contactPoints) problems.push(`CQL_CONTACT_POINTS must be set where ROLE is ${role}`);
  }
  if (retention.historyDays < retention.batchDays) problems.push('HISTORY_DAYS is at least BATCH_DAYS');
  return problems;
}
