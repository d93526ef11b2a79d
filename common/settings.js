import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { MillraceError } from './errors.js';
import { readableFile } from './setting-readers.js';
import { SETTINGS } from './settings-table.js';

/** @typedef {import('./settings-table.js').Setting} Setting */

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** @param {string} host @returns {boolean} */
export const isLoopback = (host) => LOOPBACK.test(host);

/**
 * Reads all settings; every problem is reported at once, by name. An empty value is no value.
 *
 * @param {NodeJS.ProcessEnv} [environment] goes before what stands in the file
 * @param {{ envFile?: string }} [options] default: `.env` in the working directory, if it is there
 * @throws {MillraceError} `bad_settings`
 */
export function readSettings(environment = process.env, { envFile = '.env' } = {}) {
  const given = { ...readEnvFile(envFile), ...environment };
  /** @type {Map<string, string>} what is wrong, by the setting's name */
  const wrong = new Map();
  const values = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, setting]) => [name, readSetting(name, setting, given, wrong)]),
  );
  const config = arrange(values);
  // A setting that cannot be read is no ground to complain about others beside it.
  const beside = contradictions(config).filter((says) => !says.split(/\W+/).some((word) => wrong.has(word)));
  const problems = [...wrong.values(), ...beside];
  if (problems.length > 0) {
    const lines = problems.map((says) => `  ${says}`);
    throw new MillraceError('bad_settings', `Settings to mend:\n${lines.join('\n')}`);
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

/**
 * @param {string} name
 * @param {Setting} setting
 * @param {NodeJS.ProcessEnv} given
 * @param {Map<string, string>} wrong gets a sentence when there is no value to be had
 */
function readSetting(name, setting, given, wrong) {
  const fileName = `${name}_FILE`;
  const file = setting.secret ? given[fileName] : undefined;
  try {
    if (file && given[name]) throw new Error(`is set beside ${name}; take one of them away`);
    const value = file ? readSecret(file) : given[name] || setting.fallback;
    return value === undefined ? undefined : setting.read(value);
  } catch (error) {
    wrong.set(name, `${file ? fileName : name} ${/** @type {Error} */ (error).message}`);
    return undefined;
  }
}

/** @param {string} path @returns {string} what the file holds, without the line break that editors leave at its end */
function readSecret(path) {
  const secret = readFileSync(readableFile(path), 'utf8').replace(/\r?\n$/, '');
  if (secret === '') throw new Error(`names a file that holds nothing: ${path}`);
  return secret;
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
      tls: pairOf(v.MQTT_TLS_CERT, v.MQTT_TLS_KEY),
    },
    http: {
      /** @type {string} */ host: v.HTTP_HOST,
      /** @type {number} */ port: v.HTTP_PORT,
      /** Not null: it listens with TLS. */
      tls: pairOf(v.HTTP_TLS_CERT, v.HTTP_TLS_KEY),
      /** @type {string | undefined} */ apiToken: v.API_TOKEN,
      /** @type {string[]} */ readTokens: v.READ_TOKENS ?? [],
      /** @type {string[]} */ ingestTokens: v.INGEST_TOKENS ?? [],
      sessionMs: v.SESSION_HOURS * 3_600_000,
      /** @type {number} */ trustProxy: v.TRUST_PROXY,
      /** @type {number} */ requestsPerSecond: v.HTTP_RATE_LIMIT,
      /** @type {string | undefined} */ cursorSecret: v.CURSOR_SECRET,
    },
    /** @type {boolean} */ tlsElsewhere: v.TLS_ELSEWHERE,
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
    /** What nobody may read, neither in the log nor anywhere else. */
    secrets: secretsOf(v),
  };
}

/** @param {Record<string, any>} values by their names @returns {string[]} */
function secretsOf(values) {
  const settings = /** @type {[string, Setting][]} */ (Object.entries(SETTINGS));
  return settings
    .flatMap(([name, { secret }]) => (secret ? [values[name]].flat() : []))
    .filter((value) => typeof value === 'string' && value !== '');
}

/**
 * The files of a certificate and its private key.
 *
 * @typedef {{ cert: string, key: string }} TlsFiles paths
 */

/** @param {string | undefined} cert @param {string | undefined} key @returns {TlsFiles | null} one alone is a contradiction */
const pairOf = (cert, key) => (cert || key ? { cert: cert ?? '', key: key ?? '' } : null);

/** @param {string} protocol @param {TlsFiles | null} tls @returns {[wrong: unknown, says: string][]} */
const halfPairs = (protocol, tls) => [
  [tls && !tls.key, `${protocol}_TLS_KEY must be set where ${protocol}_TLS_CERT is`],
  [tls && !tls.cert, `${protocol}_TLS_CERT must be set where ${protocol}_TLS_KEY is`],
];

/** @param {string} protocol @returns {string} */
const unencrypted = (protocol) =>
  `${protocol}_TLS_CERT and ${protocol}_TLS_KEY must be set where ${protocol}_HOST is beyond loopback, or TLS_ELSEWHERE=true where something in front ends TLS or the network is private`;

/** @param {Config} config @returns {string[]} what is right by itself and wrong together */
function contradictions({ cql, mqtt, http, tlsElsewhere, role, sparkplug, retention }) {
  const apart = role !== 'all';
  const embedded = !mqtt.url;
  /** @type {[wrong: unknown, says: string][]} */
  const rules = [
    [cql.username && !cql.password, 'CQL_PASSWORD must be set where CQL_USERNAME is'],
    [cql.password && !cql.username, 'CQL_USERNAME must be set where CQL_PASSWORD is'],
    [mqtt.password && !mqtt.username, 'MQTT_USERNAME must be set where MQTT_PASSWORD is'],
    ...halfPairs('MQTT', mqtt.tls),
    ...halfPairs('HTTP', http.tls),
    [!isLoopback(http.host) && !http.tls && !tlsElsewhere, unencrypted('HTTP')],
    [embedded && !isLoopback(mqtt.host) && !mqtt.tls && !tlsElsewhere, unencrypted('MQTT')],
    [
      mqtt.tlsCa && mqtt.url && !mqtt.url.startsWith('mqtts:'),
      'MQTT_URL must be mqtts:// where MQTT_TLS_CA is set',
    ],
    [
      // Where ROLE is ingest no measurement is served: health and metrics alone, which probes ask for without a token.
      !isLoopback(http.host) && !http.apiToken && role !== 'ingest',
      'API_TOKEN must be set where HTTP_HOST is beyond loopback',
    ],
    [
      embedded && !isLoopback(mqtt.host) && !mqtt.auth,
      'MQTT_AUTH must be true where MQTT_HOST is beyond loopback',
    ],
    [
      embedded && mqtt.auth && mqtt.username && !mqtt.password,
      'MQTT_PASSWORD must be set where MQTT_USERNAME and MQTT_AUTH are',
    ],
    [apart && !http.cursorSecret, `CURSOR_SECRET must be set where ROLE is ${role}`],
    [apart && embedded, `MQTT_URL must be set where ROLE is ${role}`],
    [apart && !cql.contactPoints, `CQL_CONTACT_POINTS must be set where ROLE is ${role}`],
    [sparkplug && role === 'http', 'SPARKPLUG must be false where ROLE is http'],
    [
      // It is the host's id there, and a level of a topic.
      sparkplug && /[/+#]/.test(mqtt.clientId),
      'MQTT_CLIENT_ID must be without /, + and # where SPARKPLUG is true',
    ],
    [
      retention.historyDays < retention.batchDays,
      'HISTORY_DAYS must not be less than BATCH_DAYS: history is packed from batches',
    ],
  ];
  return rules.filter(([wrong]) => wrong).map(([, says]) => says);
}
