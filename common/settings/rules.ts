import { isLoopback, isLoopbackPoint, isOpenBroker } from '../addresses.ts';
import type { Config, TlsFiles } from './config.ts';

/**
 * Characters of a token or password that attackers in the network can try. The API does not lock a token after wrong
 * attempts, and the broker does not count attempts, so a secret must be too long to guess.
 */
const LEAST_SECRET = 16;

const halfPairs = (protocol: string, tls: TlsFiles | null): [broken: unknown, message: string][] => [
  [tls && !tls.key, `${protocol}_TLS_KEY must be set when ${protocol}_TLS_CERT is set`],
  [tls && !tls.cert, `${protocol}_TLS_CERT must be set when ${protocol}_TLS_KEY is set`],
];

const unencrypted = (protocol: string): string =>
  `${protocol}_TLS_CERT and ${protocol}_TLS_KEY must be set when ${protocol}_HOST is beyond loopback, or TLS_ELSEWHERE=true if a proxy ends TLS or the network is private`;

const inTheClear = (remedy: string, password: string, receiver: string): string =>
  `${remedy} when ${password} is sent to ${receiver} beyond loopback, or TLS_ELSEWHERE=true if the network between is private`;

function passwordsInTheClear({
  cql,
  mqtt,
  stream,
  tlsElsewhere,
}: Config): [broken: unknown, message: string][] {
  const isCqlOpen = !cql.tlsCa && !(cql.contactPoints ?? []).every(isLoopbackPoint);
  const isStreamOpen = !stream.tls && !(stream.kafka ?? []).every(isLoopbackPoint);
  const isMqttOpen = mqtt.url !== undefined && isOpenBroker(mqtt.url);
  return [
    [
      !tlsElsewhere && cql.password && isCqlOpen,
      inTheClear('CQL_TLS_CA must be set', 'CQL_PASSWORD', 'a database'),
    ],
    [
      !tlsElsewhere && stream.password && isStreamOpen,
      inTheClear('STREAM_TLS must be true', 'STREAM_PASSWORD', 'Kafka'),
    ],
    [
      // If MQTT_TLS_CA is set without mqtts://, another rule reports it.
      !tlsElsewhere && mqtt.password && isMqttOpen && !mqtt.tlsCa,
      inTheClear('MQTT_URL must be mqtts://', 'MQTT_PASSWORD', 'a broker'),
    ],
  ];
}

/** A token has one scope: a client with a read token must only be able to read. */
function sharedTokens({
  apiToken = '',
  readTokens,
  ingestTokens,
}: Config['http']): [broken: unknown, message: string][] {
  const message = (one: string, other: string) =>
    `${one} must not hold a token that is in ${other}: each token has one scope`;
  return [
    [readTokens.includes(apiToken), message('READ_TOKENS', 'API_TOKEN')],
    [ingestTokens.includes(apiToken), message('INGEST_TOKENS', 'API_TOKEN')],
    [ingestTokens.some((token) => readTokens.includes(token)), message('INGEST_TOKENS', 'READ_TOKENS')],
  ];
}

function rulesOfRegistry(
  { registry, format }: Config['stream'],
  tlsElsewhere: boolean,
): [broken: unknown, message: string][] {
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

function keysOfS3(place: Config['stream']['parquet']): [broken: unknown, message: string][] {
  if (!place || !('bucket' in place)) return [];
  return [
    [!place.keyId, 'STREAM_S3_KEY_ID must be set when STREAM_PARQUET is a bucket'],
    [!place.secret, 'STREAM_S3_SECRET must be set when STREAM_PARQUET is a bucket'],
  ];
}

const isShort = (secret?: string) => secret !== undefined && secret.length < LEAST_SECRET;

const guessable = (name: string, where: string): string =>
  `${name} must have ${LEAST_SECRET} characters or more when ${where}, or it can be guessed: openssl rand -base64 32 makes one`;

function shortTokens({
  host,
  trustProxy,
  apiToken,
  readTokens,
  ingestTokens,
}: Config['http']): [broken: unknown, message: string][] {
  if (isLoopback(host) && trustProxy === 0) return [];
  const where = 'HTTP_HOST is beyond loopback or TRUST_PROXY is set';
  return [
    [isShort(apiToken), guessable('API_TOKEN', where)],
    [readTokens.some(isShort), guessable('Each of READ_TOKENS', where)],
    [ingestTokens.some(isShort), guessable('Each of INGEST_TOKENS', where)],
  ];
}

/** Settings that are valid alone may contradict each other. @returns sentences that name the setting to change first */
export function brokenRules(config: Config): string[] {
  const { cql, mqtt, http, stream, tlsElsewhere, role, sparkplug, retention } = config;
  const apart = role !== 'all';
  const embedded = !mqtt.url;
  const rules: [broken: unknown, message: string][] = [
    [cql.username && !cql.password, 'CQL_PASSWORD must be set when CQL_USERNAME is set'],
    [cql.password && !cql.username, 'CQL_USERNAME must be set when CQL_PASSWORD is set'],
    [mqtt.password && !mqtt.username, 'MQTT_USERNAME must be set when MQTT_PASSWORD is set'],
    [stream.username && !stream.password, 'STREAM_PASSWORD must be set when STREAM_USERNAME is set'],
    [stream.password && !stream.username, 'STREAM_USERNAME must be set when STREAM_PASSWORD is set'],
    ...halfPairs('STREAM', stream.certificate),
    [stream.certificate && !stream.tls, 'STREAM_TLS must be true when STREAM_TLS_CERT is set'],
    [
      stream.explode && stream.format === 'packed',
      'STREAM_EXPLODE must be false when STREAM_FORMAT is packed: a block holds many samples',
    ],
    ...rulesOfRegistry(stream, tlsElsewhere),
    ...keysOfS3(stream.parquet),
    ...halfPairs('CQL', cql.tls),
    [cql.tls && !cql.tlsCa, 'CQL_TLS_CA must be set when CQL_TLS_CERT is set'],
    ...halfPairs('MQTT', mqtt.tls),
    ...halfPairs('HTTP', http.tls),
    [!isLoopback(http.host) && !http.tls && !tlsElsewhere, unencrypted('HTTP')],
    [embedded && !isLoopback(mqtt.host) && !mqtt.tls && !tlsElsewhere, unencrypted('MQTT')],
    [
      mqtt.tlsCa && mqtt.url && !mqtt.url.startsWith('mqtts:'),
      'MQTT_URL must be mqtts:// when MQTT_TLS_CA is set',
    ],
    [
      // With ROLE=ingest the process serves only health and metrics. Probes request both without a token.
      !isLoopback(http.host) && !http.apiToken && role !== 'ingest',
      'API_TOKEN must be set when HTTP_HOST is beyond loopback',
    ],
    ...shortTokens(http),
    ...sharedTokens(http),
    ...passwordsInTheClear(config),
    [
      embedded && !isLoopback(mqtt.host) && !mqtt.auth,
      'MQTT_AUTH must be true when MQTT_HOST is beyond loopback',
    ],
    [
      embedded && !isLoopback(mqtt.host) && isShort(mqtt.password),
      guessable('MQTT_PASSWORD', 'MQTT_HOST is beyond loopback'),
    ],
    [
      embedded && mqtt.auth && mqtt.username && !mqtt.password,
      'MQTT_PASSWORD must be set when MQTT_USERNAME and MQTT_AUTH are set',
    ],
    [apart && !http.cursorSecret, `CURSOR_SECRET must be set when ROLE is ${role}`],
    [apart && embedded, `MQTT_URL must be set when ROLE is ${role}`],
    [apart && !cql.contactPoints, `CQL_CONTACT_POINTS must be set when ROLE is ${role}`],
    [sparkplug && role === 'http', 'SPARKPLUG must be false when ROLE is http'],
    [
      // With Sparkplug the client id is also the host id, which is one level of a topic.
      sparkplug && /[/+#]/.test(mqtt.clientId),
      'MQTT_CLIENT_ID must be without /, + and # when SPARKPLUG is true',
    ],
    [
      retention.historyDays < retention.batchDays,
      'HISTORY_DAYS must not be less than BATCH_DAYS: history is packed from batches',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, message]) => message);
}
