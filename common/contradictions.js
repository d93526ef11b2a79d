import { isLoopback, isLoopbackPoint, isOpenBroker } from './addresses.js';

/** @import { Config, TlsFiles } from './config.js' */

/**
 * Of what lets in: right tokens are served however many wrong ones came from the same address, and the broker counts none. So
 * nobody may be able to guess one.
 */
const LEAST_SECRET = 16;

/** @param {string} protocol @param {TlsFiles | null} tls @returns {[wrong: unknown, says: string][]} */
const halfPairs = (protocol, tls) => [
  [tls && !tls.key, `${protocol}_TLS_KEY must be set where ${protocol}_TLS_CERT is`],
  [tls && !tls.cert, `${protocol}_TLS_CERT must be set where ${protocol}_TLS_KEY is`],
];

/** @param {string} protocol @returns {string} */
const unencrypted = (protocol) =>
  `${protocol}_TLS_CERT and ${protocol}_TLS_KEY must be set where ${protocol}_HOST is beyond loopback, or TLS_ELSEWHERE=true where something in front ends TLS or the network is private`;

/** @param {string} mend @param {string} password @param {string} where @returns {string} */
const inTheClear = (mend, password, where) =>
  `${mend} where ${password} is sent to ${where} beyond loopback, or TLS_ELSEWHERE=true where the network between is private`;

/** @param {Config} config @returns {[wrong: unknown, says: string][]} */
function passwordsInTheClear({ cql, mqtt, tlsElsewhere }) {
  const isCqlOpen = !cql.tlsCa && !(cql.contactPoints ?? []).every(isLoopbackPoint);
  const isMqttOpen = mqtt.url !== undefined && isOpenBroker(mqtt.url);
  return [
    [
      !tlsElsewhere && cql.password && isCqlOpen,
      inTheClear('CQL_TLS_CA must be set', 'CQL_PASSWORD', 'a database'),
    ],
    [
      // With MQTT_TLS_CA there is a rule of its own.
      !tlsElsewhere && mqtt.password && isMqttOpen && !mqtt.tlsCa,
      inTheClear('MQTT_URL must be mqtts://', 'MQTT_PASSWORD', 'a broker'),
    ],
  ];
}

/**
 * A token has one scope: whoever is given one to read with must not be able to do more.
 *
 * @param {Config['http']} http
 * @returns {[wrong: unknown, says: string][]}
 */
function sharedTokens({ apiToken = '', readTokens, ingestTokens }) {
  const says = (/** @type {string} */ one, /** @type {string} */ other) =>
    `${one} must not hold a token that is in ${other}: each has rights of its own`;
  return [
    [readTokens.includes(apiToken), says('READ_TOKENS', 'API_TOKEN')],
    [ingestTokens.includes(apiToken), says('INGEST_TOKENS', 'API_TOKEN')],
    [ingestTokens.some((token) => readTokens.includes(token)), says('INGEST_TOKENS', 'READ_TOKENS')],
  ];
}

/** @param {string} [secret] */
const isShort = (secret) => secret !== undefined && secret.length < LEAST_SECRET;

/** @param {string} name @param {string} where @returns {string} */
const guessable = (name, where) =>
  `${name} must have ${LEAST_SECRET} characters or more where ${where}, or it can be guessed: openssl rand -base64 32 makes one`;

/** @param {Config['http']} http @returns {[wrong: unknown, says: string][]} */
function shortTokens({ host, trustProxy, apiToken, readTokens, ingestTokens }) {
  if (isLoopback(host) && trustProxy === 0) return [];
  const where = 'HTTP_HOST is beyond loopback or TRUST_PROXY is set';
  return [
    [isShort(apiToken), guessable('API_TOKEN', where)],
    [readTokens.some(isShort), guessable('Each of READ_TOKENS', where)],
    [ingestTokens.some(isShort), guessable('Each of INGEST_TOKENS', where)],
  ];
}

/**
 * What is right by itself and wrong together.
 *
 * @param {Config} config
 * @returns {string[]} a sentence for each, which names the setting to mend first
 */
export function contradictions(config) {
  const { cql, mqtt, http, tlsElsewhere, role, sparkplug, retention } = config;
  const apart = role !== 'all';
  const embedded = !mqtt.url;
  /** @type {[wrong: unknown, says: string][]} */
  const rules = [
    [cql.username && !cql.password, 'CQL_PASSWORD must be set where CQL_USERNAME is'],
    [cql.password && !cql.username, 'CQL_USERNAME must be set where CQL_PASSWORD is'],
    [mqtt.password && !mqtt.username, 'MQTT_USERNAME must be set where MQTT_PASSWORD is'],
    ...halfPairs('CQL', cql.tls),
    [cql.tls && !cql.tlsCa, 'CQL_TLS_CA must be set where CQL_TLS_CERT is'],
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
    ...shortTokens(http),
    ...sharedTokens(http),
    ...passwordsInTheClear(config),
    [
      embedded && !isLoopback(mqtt.host) && !mqtt.auth,
      'MQTT_AUTH must be true where MQTT_HOST is beyond loopback',
    ],
    [
      embedded && !isLoopback(mqtt.host) && isShort(mqtt.password),
      guessable('MQTT_PASSWORD', 'MQTT_HOST is beyond loopback'),
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
