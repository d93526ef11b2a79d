import { resolve } from 'node:path';
import { isLoopback } from './addresses.js';
import { SETTINGS } from './settings-table.js';

/** @import { Setting } from './settings-table.js' */

/**
 * The settings as the parts take them.
 *
 * @param {Record<string, any>} v the values by their names
 */
export function arrange(v) {
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
      /** Not null: it shows who it is. */
      tls: pairOf(v.CQL_TLS_CERT, v.CQL_TLS_KEY),
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

/** @typedef {ReturnType<typeof arrange>} Config */

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
