import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { Client } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import type { Config, TlsFiles } from '../../common/settings/config.ts';
import {
  BusyServerRetryPolicy,
  createTracker,
  type OnBrokenRule,
  RememberedReplicasPolicy,
} from './driver-policies.ts';

const { auth, types, policies } = cassandra;

const CQL_PORT = 9042;

/** Longest pause between two reconnection attempts, in ms. The driver's default is ten minutes. */
const RECONNECT_MAX_MS = 4000;

/** Longest wait for an answer, in ms. After it the driver treats the request as failed, and may repeat it. */
const READ_TIMEOUT_MS = 5000;

/** In rows. 100 rows with blobs stay below the server's limit of 1 MiB per page. */
const FETCH_SIZE = 100;

export interface ClientOptions {
  /** missing for commands that create the keyspace */
  keyspace?: string;
  applicationName?: string;
  onBrokenRule?: OnBrokenRule;
  /** repeats requests that a busy server did not answer, for up to minutes */
  retryBusyServer?: boolean;
  /**
   * whether the driver waits for schema agreement after each change of the schema (default: true); false: the
   * caller checks that the nodes agree
   */
  awaitsAgreement?: boolean;
  /** called when a node asks for credentials; a node without authentication never asks */
  onAuthenticate?: () => void;
}

/**
 * Replaces every default of the driver that loses data or hides errors. Statements are prepared and
 * idempotent (so the driver may try the next node), and the consistency level is the configured one.
 * Reconnection takes seconds, certificates are verified, and the driver reports nothing to third parties.
 * @param cql `contactPoints` must be set
 * @returns a client that is not yet connected
 */
export function createClient(cql: Config['cql'], options: ClientOptions = {}): Client {
  const {
    keyspace,
    applicationName = 'millrace',
    retryBusyServer = false,
    awaitsAgreement = true,
    onBrokenRule,
    onAuthenticate,
  } = options;
  const contactPoints = cql.contactPoints ?? [`127.0.0.1:${cql.localPort}`];
  return new cassandra.Client({
    contactPoints,
    // The driver compares the schema versions that one node has learned by gossip from the other nodes. With
    // three nodes the versions arrive about 2 s late.
    protocolOptions: {
      port: portOf(contactPoints),
      ...(!awaitsAgreement && { maxSchemaAgreementWaitSeconds: 0 }),
    },
    localDataCenter: cql.localDc,
    // Cassandra warns about USE together with prepared statements, because the next USE changes the meaning
    // of unqualified names. Each client keeps one keyspace.
    keyspace,
    applicationName,
    authProvider: cql.username ? new PasswordAuth(cql.username, cql.password, onAuthenticate) : undefined,
    sslOptions: cql.tlsCa
      ? { ...serverVerification(cql.tlsCa, contactPoints), ...clientCertificate(cql.tls) }
      : undefined,
    queryOptions: {
      prepare: true,
      isIdempotent: true,
      fetchSize: FETCH_SIZE,
      consistency: types.consistencies[consistencyName(cql.consistency) as keyof typeof types.consistencies],
      // Only lightweight transactions use the serial consistency. All data centers must agree on leases, credentials, versions and
      // the schema lock. If the keyspace is replicated to one data center, only its nodes take part.
      serialConsistency: types.consistencies.serial,
    },
    socketOptions: { readTimeout: READ_TIMEOUT_MS, connectTimeout: 5000, tcpNoDelay: true },
    policies: {
      loadBalancing: new RememberedReplicasPolicy(cql.localDc),
      reconnection: new policies.reconnection.ExponentialReconnectionPolicy(200, RECONNECT_MAX_MS, false),
      ...(retryBusyServer && { retry: new BusyServerRetryPolicy() }),
    },
    encoding: { useUndefinedAsUnset: true },
    requestTracker: createTracker({ application: applicationName, intended: cql.consistency }, onBrokenRule),
    monitorReporting: { enabled: false },
  });
}

class PasswordAuth extends auth.PlainTextAuthProvider {
  declare onAuthenticate: () => void;

  constructor(username: string, password: string = '', onAuthenticate: () => void = () => {}) {
    super(username, password);
    this.onAuthenticate = onAuthenticate;
  }

  override newAuthenticator(endpoint: string, name: string) {
    this.onAuthenticate();
    return super.newAuthenticator(endpoint, name);
  }
}

/**
 * The driver connects to addresses, even if the contact points are names. So a node may present a certificate
 * for its address, or for the name of a contact point.
 */
const serverVerification = (ca: string, contactPoints: string[]): ConnectionOptions => ({
  ca: [readFileSync(ca)],
  rejectUnauthorized: true,
  checkServerIdentity: (address, certificate) => {
    const problem = checkServerIdentity(address, certificate);
    const names = contactPoints
      .map((contactPoint) => contactPoint.replace(/:\d+$/, ''))
      .filter((host) => !isIP(host) && !host.startsWith('['));
    return names.some((name) => !checkServerIdentity(name, certificate)) ? undefined : problem;
  },
});

const clientCertificate = (files: TlsFiles | null) =>
  files && { cert: readFileSync(files.cert), key: readFileSync(files.key) };

/** Nodes report the addresses of other nodes without ports, so the driver uses the port of the first contact point for all nodes. */
const portOf = ([first = '']: string[]) => Number(/:(\d+)$/.exec(first)?.[1] ?? CQL_PORT);

const consistencyName = (name: string): string =>
  name.toLowerCase().replace(/_(\w)/g, (_, initial) => initial.toUpperCase());
