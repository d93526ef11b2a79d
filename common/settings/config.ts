import { resolve } from 'node:path';
import { isLoopback } from '../addresses.ts';
import type { SettingsGroup } from './group.ts';
import { SETTINGS, type Setting, type Values } from './schema.ts';

const ALL_LIVE_TOPICS = ['name', 'samples', 'sensors'] as const;

export function arrange(v: Values) {
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
      /** If not null, the connection uses a client certificate. */
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
    live: {
      isAlways: v.LIVE_ALWAYS,
      topics: v.LIVE_TOPICS ?? (v.MQTT_URL ? [] : ALL_LIVE_TOPICS),
      isRetained: v.LIVE_RETAIN,
    },
    http: {
      host: v.HTTP_HOST,
      port: v.HTTP_PORT,
      tls: pairOf(v.HTTP_TLS_CERT, v.HTTP_TLS_KEY),
      apiToken: v.API_TOKEN,
      /** Only commands use it. */
      url: v.API_URL,
      readTokens: v.READ_TOKENS ?? [],
      ingestTokens: v.INGEST_TOKENS ?? [],
      correctTokens: v.CORRECT_TOKENS ?? [],
      sessionMs: v.SESSION_HOURS * 3_600_000,
      trustProxy: v.TRUST_PROXY,
      requestsPerSecond: v.HTTP_RATE_LIMIT,
      cursorSecret: v.CURSOR_SECRET,
    },
    tlsElsewhere: v.TLS_ELSEWHERE,
    role: v.ROLE,
    ingest: {
      autoRegister: v.AUTO_REGISTER ?? isLoopback(brokerHost),
      autoRegisterMax: v.AUTO_REGISTER_MAX,
      maxMessageBytes: v.MAX_MESSAGE_BYTES,
      maxClockSkewMs: v.MAX_CLOCK_SKEW,
      relativeTimes: v.RELATIVE_TIMES,
      tsUnitMs: v.TS_UNIT === 's' ? 1000 : 1,
      maxInFlight: v.INGEST_MAX_IN_FLIGHT,
      journal: v.INGEST_JOURNAL,
      replaceDevices: v.MQTT_REPLACE_DEVICES ?? [],
    },
    retention: {
      batchDays: v.BATCH_DAYS,
      historyDays: v.HISTORY_DAYS,
      latestGroups: v.LATEST_GROUPS,
    },
    logLevel: v.LOG_LEVEL,
    logFormat: v.LOG_FORMAT,
    /** Secrets, which must not appear in log lines and answers. */
    secrets: secretsOf(SETTINGS, v),
  };
}

/** Without the settings of features. */
export type CoreConfig = ReturnType<typeof arrange>;

export interface Config extends CoreConfig {
  /** Settings of a feature. @throws `bad_settings` */
  of: <T>(group: SettingsGroup<T>) => T;
}

export const secretsOf = (settings: Record<string, Setting>, values: Record<string, unknown>): string[] =>
  Object.entries(values)
    .flatMap(([name, value]) => (settings[name]?.secret ? [value].flat() : []))
    .map((value) => (typeof value === 'object' && value !== null && 'token' in value ? value.token : value))
    .filter((value) => typeof value === 'string')
    .filter(Boolean);

export type TlsFiles = { cert: string; key: string };

/** @returns an empty path breaks the rule `halfPairs` of rules.ts */
export const pairOf = (cert: string | undefined, key: string | undefined): TlsFiles | null =>
  cert || key ? { cert: cert ?? '', key: key ?? '' } : null;
