import { isLoopback, isLoopbackPoint, isOpenBroker } from '../addresses.ts';
import type { CoreConfig, TlsFiles } from './config.ts';
import type { Rule } from './group.ts';

/**
 * Characters of a token or password that attackers in the network can try. The API does not lock a token after wrong
 * attempts, and the broker does not count attempts, so a secret must be too long to guess.
 */
const LEAST_SECRET = 16;

export const halfPairs = (protocol: string, tls: TlsFiles | null): Rule[] => [
  [tls && !tls.key, `${protocol}_TLS_KEY must be set when ${protocol}_TLS_CERT is set`],
  [tls && !tls.cert, `${protocol}_TLS_CERT must be set when ${protocol}_TLS_KEY is set`],
];

const unencrypted = (protocol: string): string =>
  `${protocol}_TLS_CERT and ${protocol}_TLS_KEY must be set when ${protocol}_HOST is beyond loopback, or TLS_ELSEWHERE=true if a proxy ends TLS or the network is private`;

export const inTheClear = (remedy: string, password: string, receiver: string): string =>
  `${remedy} when ${password} is sent to ${receiver} beyond loopback, or TLS_ELSEWHERE=true if the network between is private`;

function passwordsInTheClear({ cql, mqtt, http, tlsElsewhere }: CoreConfig): Rule[] {
  const isCqlOpen = !cql.tlsCa && !(cql.contactPoints ?? []).every(isLoopbackPoint);
  const isMqttOpen = mqtt.url !== undefined && isOpenBroker(mqtt.url);
  const isApiOpen = http.url?.startsWith('http:') && !isLoopback(new URL(http.url).hostname);
  return [
    [
      !tlsElsewhere && cql.password && isCqlOpen,
      inTheClear('CQL_TLS_CA must be set', 'CQL_PASSWORD', 'a database'),
    ],
    [
      // If MQTT_TLS_CA is set without mqtts://, another rule reports it.
      !tlsElsewhere && mqtt.password && isMqttOpen && !mqtt.tlsCa,
      inTheClear('MQTT_URL must be mqtts://', 'MQTT_PASSWORD', 'a broker'),
    ],
    [
      !tlsElsewhere && http.apiToken && isApiOpen,
      inTheClear('API_URL must be https://', 'API_TOKEN', 'an API'),
    ],
  ];
}

const inTwo = (one: string, other: string) =>
  `${one} must not hold a token that is in ${other}: each token has one scope`;

/** A token has one scope: a client with a read token must only be able to read. */
function sharedTokens(http: CoreConfig['http']): Rule[] {
  const lists = Object.entries(tokenLists(http));
  return lists.flatMap(([name, tokens], index) => sharedWith(name, tokens, lists.slice(0, index)));
}

const sharedWith = (name: string, tokens: string[], lists: Array<[string, string[]]>): Rule[] =>
  lists.map(([other, others]) => [tokens.some((token) => others.includes(token)), inTwo(name, other)]);

const tokenLists = ({ apiToken, readTokens, ingestTokens, correctTokens }: CoreConfig['http']) => ({
  API_TOKEN: apiToken ? [apiToken] : [],
  READ_TOKENS: readTokens,
  INGEST_TOKENS: ingestTokens,
  CORRECT_TOKENS: correctTokens,
});

const isShort = (secret?: string) => secret !== undefined && secret.length < LEAST_SECRET;

const guessable = (name: string, where: string): string =>
  `${name} must have ${LEAST_SECRET} characters or more when ${where}, or it can be guessed: openssl rand -base64 32 makes one`;

/** `tokens` by the name of their setting */
function shortTokens({ host, trustProxy }: CoreConfig['http'], tokens: Record<string, string[]>): Rule[] {
  if (isLoopback(host) && trustProxy === 0) return [];
  const where = 'HTTP_HOST is beyond loopback or TRUST_PROXY is set';
  return Object.entries(tokens).map(([name, list]) => [list.some(isShort), guessable(name, where)]);
}

/** Rules for a setting with tokens that are bound to a part of the installation. */
export const boundTokenRules = (
  name: string,
  tokens: string[],
  { http }: Pick<CoreConfig, 'http'>,
): Rule[] => [
  [tokens.length > 0 && !http.apiToken, `API_TOKEN must be set when ${name} is set`],
  ...shortTokens(http, { [`Each of ${name}`]: tokens }),
  [new Set(tokens).size < tokens.length, `${name} must not hold a token twice`],
  ...sharedWith(name, tokens, Object.entries(tokenLists(http))),
];

export const brokenOf = (rules: Rule[]): string[] =>
  rules.filter(([broken]) => broken).map(([, message]) => message);

/** Settings that are valid alone may contradict each other. @returns sentences that name the setting to change first */
export function brokenRules(config: CoreConfig): string[] {
  const { cql, mqtt, http, tlsElsewhere, role, retention } = config;
  const apart = role !== 'all';
  const embedded = !mqtt.url;
  const rules: Rule[] = [
    [cql.username && !cql.password, 'CQL_PASSWORD must be set when CQL_USERNAME is set'],
    [cql.password && !cql.username, 'CQL_USERNAME must be set when CQL_PASSWORD is set'],
    [mqtt.password && !mqtt.username, 'MQTT_USERNAME must be set when MQTT_PASSWORD is set'],
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
    ...shortTokens(http, {
      API_TOKEN: http.apiToken ? [http.apiToken] : [],
      'Each of READ_TOKENS': http.readTokens,
      'Each of INGEST_TOKENS': http.ingestTokens,
      'Each of CORRECT_TOKENS': http.correctTokens,
    }),
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
    [
      retention.historyDays < retention.batchDays,
      'HISTORY_DAYS must not be less than BATCH_DAYS: history is packed from batches',
    ],
  ];
  return brokenOf(rules);
}
