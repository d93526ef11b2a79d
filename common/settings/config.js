import { resolve } from 'node:path';
import { isLoopback } from '../addresses.js';
import { SETTINGS } from './schema.js';

/** @import { Values } from './schema.js' */

/**
 * The settings as other folders take them.
 *
 * @param {Values} v
 */
export function arrange(v) {
  const brokerHost = v.MQTT_URL ? new URL(v.MQTT_URL).hostname : v.MQTT_HOST;
  return {
    cql: {
      contactPoints: v.CQL_CONTACT_POINTS ?? null,
      localDc: v.CQL_LOCAL_DC,
      username: v.CQL_USERNAME,
      password: v.CQL_PASSWORD,
      keyspace: v.CQL_KEYSPACE,
      consistency: v.CQL_CONSISTENCY,
      tlsCa: v.CQL_TLS_CA,
      /** Not null: it shows a client certificate. */
      tls: pairOf(v.CQL_TLS_CERT, v.CQL_TLS_KEY),
      localPort: v.CQL_LOCAL_PORT,
    },
    dataDir: resolve(v.DATA_DIR),
    mqtt: {
      url: v.MQTT_URL,
      username: v.MQTT_USERNAME,
      password: v.MQTT_PASSWORD,
      clientId: v.MQTT_CLIENT_ID,
      shareGroup: v.MQTT_SHARE_GROUP,
      sessionExpirySeconds: Math.round(v.MQTT_SESSION_EXPIRY / 1000),
      tlsCa: v.MQTT_TLS_CA,
      host: v.MQTT_HOST,
      port: v.MQTT_PORT,
      auth: v.MQTT_AUTH,
      tls: pairOf(v.MQTT_TLS_CERT, v.MQTT_TLS_KEY),
    },
    http: {
      host: v.HTTP_HOST,
      port: v.HTTP_PORT,
      /** Not null: it listens with TLS. */
      tls: pairOf(v.HTTP_TLS_CERT, v.HTTP_TLS_KEY),
      apiToken: v.API_TOKEN,
      readTokens: v.READ_TOKENS ?? [],
      ingestTokens: v.INGEST_TOKENS ?? [],
      sessionMs: v.SESSION_HOURS * 3_600_000,
      trustProxy: v.TRUST_PROXY,
      requestsPerSecond: v.HTTP_RATE_LIMIT,
      cursorSecret: v.CURSOR_SECRET,
    },
    tlsElsewhere: v.TLS_ELSEWHERE,
    role: v.ROLE,
    sparkplug: v.SPARKPLUG ?? v.ROLE === 'all',
    ingest: {
      autoRegister: v.AUTO_REGISTER ?? isLoopback(brokerHost),
      autoRegisterMax: v.AUTO_REGISTER_MAX,
      maxMessageBytes: v.MAX_MESSAGE_BYTES,
      maxClockSkewMs: v.MAX_CLOCK_SKEW,
      relativeTimes: v.RELATIVE_TIMES,
      maxInFlight: v.INGEST_MAX_IN_FLIGHT,
    },
    retention: {
      batchDays: v.BATCH_DAYS,
      historyDays: v.HISTORY_DAYS,
      latestGroups: v.LATEST_GROUPS,
    },
    logLevel: v.LOG_LEVEL,
    logFormat: v.LOG_FORMAT,
    /** Texts that no log line and no answer may contain. */
    secrets: secretsOf(v),
  };
}

/** @typedef {ReturnType<typeof arrange>} Config */

/** @param {Values} values @returns {string[]} */
const secretsOf = (values) =>
  Object.entries(values)
    .flatMap(([name, value]) => (SETTINGS[name]?.secret ? [value].flat() : []))
    .filter((value) => typeof value === 'string')
    .filter(Boolean);

/**
 * The files of a certificate and its private key.
 *
 * @typedef {{ cert: string, key: string }} TlsFiles paths
 */

/** @param {string | undefined} cert @param {string | undefined} key @returns {TlsFiles | null} one alone is a contradiction */
const pairOf = (cert, key) => (cert || key ? { cert: cert ?? '', key: key ?? '' } : null);
