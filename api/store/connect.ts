import type { Client, Host as DriverHost } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import { codeOf, MillraceError, messageOf } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { explainTlsError } from '../../common/tls-errors.ts';
import { type ClientOptions, createClient } from './client.ts';
import { innerErrors, reasonOf } from './error-reason.ts';

const { errors } = cassandra;

/** TLS alerts for a client that presents no certificate, or an untrusted certificate. */
const CERTIFICATE_ALERTS = new Set([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
]);

/** Messages of nodes that could not read their accounts. These errors have the same code as a wrong password. */
const ACCOUNTS_AWAY = /unable to perform|could not verify|cannot achieve|timed? ?out|unavailable/i;

/** Errors name the cause and the setting to check. @throws `database_away`, `bad_settings`, `schema_differs` */
export async function connect(cql: Config['cql'], options?: ClientOptions): Promise<Client> {
  const client = createClient(cql, options);
  try {
    await client.connect();
    endReplacedHosts(client);
    return client;
  } catch (error) {
    // A failed `connect()` leaves listeners, so the client cannot be used again.
    await abandon(client);
    throw explain(error, cql);
  }
}

/**
 * The driver's `shutdown()` does not close the control connection of a client whose `connect()` failed. With
 * a wrong data center the control connection is open and would keep the process alive.
 */
async function abandon(client: Client) {
  await client.shutdown();
  const { controlConnection } = client as unknown as {
    controlConnection: { connection: { closeAsync: () => Promise<void> } | null };
  };
  await controlConnection.connection?.closeAsync();
}

/** Commands find the port of `npm run dev` in its `DATA_DIR`. */
const ELSEWHERE = '. If npm run dev runs with another DATA_DIR or CQL_LOCAL_PORT, set the same.';

/** @returns `database_away` if a retry may help; otherwise `bad_settings` or `schema_differs` */
export function explain(error: unknown, cql: Config['cql']): MillraceError {
  const where = (cql.contactPoints ?? [`127.0.0.1:${cql.localPort}`]).join(', ');
  const setting = cql.contactPoints ? 'CQL_CONTACT_POINTS' : 'CQL_LOCAL_PORT';
  const inner = innerErrors(error);
  const misplaced = inner.find((cause) => cause instanceof errors.ArgumentError);
  if (misplaced) {
    return new MillraceError(
      'bad_settings',
      `CQL_LOCAL_DC=${cql.localDc} is not right: ${messageOf(misplaced)}`,
      { cause: error },
    );
  }
  const refused = inner.find(
    (cause) => cause instanceof errors.AuthenticationError && !ACCOUNTS_AWAY.test(cause.message),
  );
  if (refused) {
    return new MillraceError(
      'bad_settings',
      `The database at ${where} refuses CQL_USERNAME and CQL_PASSWORD: ${messageOf(refused)}`,
      { cause: error },
    );
  }
  if (inner.some((cause) => cause instanceof errors.ResponseError && cause.code === 0x2200)) {
    return new MillraceError(
      'schema_differs',
      `There is no keyspace ${cql.keyspace} yet: run npm run migrate.`,
      {
        cause: error,
      },
    );
  }
  if (inner.some((cause) => CERTIFICATE_ALERTS.has(String(codeOf(cause))))) {
    return new MillraceError(
      'bad_settings',
      `The database at ${where} takes only clients whose certificate it trusts: set CQL_TLS_CERT and CQL_TLS_KEY to one of its authority's.`,
      { cause: error },
    );
  }
  const [trouble] = inner
    .map((cause) => explainTlsError(cause, 'CQL_TLS_CA'))
    .filter((text) => text !== null);
  if (trouble && cql.tlsCa) {
    const message = `The database at ${where} (${setting}) is not to be trusted: ${trouble}.`;
    return new MillraceError('bad_settings', message, { cause: error });
  }
  return new MillraceError(
    'database_away',
    `No database answers at ${where} (${setting}): ${reasonOf(error)}${cql.contactPoints ? '' : ELSEWHERE}`,
    { cause: error },
  );
}

type Host = DriverHost & { shutdown: (drain: boolean) => Promise<void> };

/**
 * When the driver (4.10) has lost every node, it creates new `Host` objects for the same addresses, and the
 * pools of the old objects try to reconnect forever. After ten such losses a process would have eleven pools
 * to one node, and their timers would keep the process from ending.
 */
function endReplacedHosts(client: Client) {
  const current: Map<string, Host> = new Map();
  for (const host of client.hosts.values()) current.set(host.address, host as Host);
  client.on('hostAdd', (host: Host) => {
    const replaced = current.get(host.address);
    current.set(host.address, host);
    // `true`: the driver waits for the answers of requests in flight before it closes the old connections.
    if (replaced && replaced !== host) void replaced.shutdown(true);
  });
}
