import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import cassandra from 'cassandra-driver';
import { PatientRetryPolicy } from './retry-policy.js';
import { RememberedReplicasPolicy } from './routing.js';
import { createTracker } from './tracker.js';

/** @import { ConnectionOptions } from 'node:tls' */
/** @import { Client } from 'cassandra-driver' */
/** @import { Config, TlsFiles } from '../../common/settings/config.js' */
/** @import { OnWrongHabit } from './tracker.js' */

const { auth, types, policies } = cassandra;

/** Where CQL is spoken when nothing else is said. */
const CQL_PORT = 9042;

/** Longest pause between two attempts to reach a node again, in ms. The driver's own default grows to ten minutes. */
const RECONNECT_MAX_MS = 4000;

/** After this long without an answer a request counts as failed and may be repeated, in ms. */
const READ_TIMEOUT_MS = 5000;

/** Rows a page of ours holds at most: where rows carry blobs, 100 of them stay below the server's 1 MiB page. */
const FETCH_SIZE = 100;

/**
 * @typedef {object} ClientOptions
 * @property {string} [keyspace] none: for what creates it
 * @property {string} [applicationName]
 * @property {OnWrongHabit} [onBrokenRule]
 * @property {boolean} [patient] asks a busy server again and again, for minutes if need be
 * @property {() => void} [onAsked] told when a node asks who we are: one without authentication never does
 */

/**
 * A driver client with every default that loses data or hides trouble set right:
 * statements prepared, idempotent (so that the driver may try the next node), at the configured consistency level,
 * reconnecting within seconds, certificates verified, nothing reported to anyone.
 *
 * @param {Config['cql']} cql `contactPoints` must be set by now
 * @param {ClientOptions} [options]
 * @returns {Client} not yet connected
 */
export function createClient(cql, options = {}) {
  const { keyspace, applicationName = 'millrace', patient = false, onBrokenRule, onAsked } = options;
  const contactPoints = cql.contactPoints ?? [`127.0.0.1:${cql.localPort}`];
  return new cassandra.Client({
    contactPoints,
    protocolOptions: { port: portOf(contactPoints) },
    localDataCenter: cql.localDc,
    // Cassandra warns of USE with prepared statements, since names mean something else after the next USE. A client of
    // ours has one keyspace for life, which is what a statement without one then means.
    keyspace,
    applicationName,
    authProvider: cql.username ? new SignIn(cql.username, cql.password, onAsked) : undefined,
    sslOptions: cql.tlsCa ? { ...verifying(cql.tlsCa, contactPoints), ...shownAs(cql.tls) } : undefined,
    queryOptions: {
      prepare: true,
      isIdempotent: true,
      fetchSize: FETCH_SIZE,
      consistency:
        types.consistencies[
          /** @type {keyof typeof types.consistencies} */ (consistencyName(cql.consistency))
        ],
      // LWT alone uses it; LOCAL_SERIAL keeps leases, credentials and the schema lock inside the data centre.
      serialConsistency: types.consistencies.localSerial,
    },
    socketOptions: { readTimeout: READ_TIMEOUT_MS, connectTimeout: 5000, tcpNoDelay: true },
    policies: {
      loadBalancing: new RememberedReplicasPolicy(cql.localDc),
      reconnection: new policies.reconnection.ExponentialReconnectionPolicy(200, RECONNECT_MAX_MS, false),
      ...(patient && { retry: new PatientRetryPolicy() }),
    },
    encoding: { useUndefinedAsUnset: true },
    requestTracker: createTracker({ application: applicationName, intended: cql.consistency }, onBrokenRule),
    monitorReporting: { enabled: false },
  });
}

/** By name and password, where a node asks for them. */
class SignIn extends auth.PlainTextAuthProvider {
  /** @param {string} username @param {string} [password] @param {() => void} [onAsked] */
  constructor(username, password = '', onAsked = () => {}) {
    super(username, password);
    this.onAsked = onAsked;
  }

  /** @override @param {string} endpoint @param {string} name of the node's authenticator */
  newAuthenticator(endpoint, name) {
    this.onAsked();
    return super.newAuthenticator(endpoint, name);
  }
}

/**
 * The driver connects to addresses, also where it was given names: a node may show a certificate for its address, or one
 * for a name among the contact points.
 *
 * @param {string} ca path
 * @param {string[]} contactPoints
 * @returns {ConnectionOptions}
 */
const verifying = (ca, contactPoints) => ({
  ca: [readFileSync(ca)],
  rejectUnauthorized: true,
  checkServerIdentity: (address, certificate) => {
    const trouble = checkServerIdentity(address, certificate);
    const names = contactPoints
      .map((one) => one.replace(/:\d+$/, ''))
      .filter((host) => !isIP(host) && !host.startsWith('['));
    return names.some((name) => !checkServerIdentity(name, certificate)) ? undefined : trouble;
  },
});

/** @param {TlsFiles | null} files of a client whom nodes ask who it is */
const shownAs = (files) => files && { cert: readFileSync(files.cert), key: readFileSync(files.key) };

/**
 * Nodes tell each other's addresses without ports: the driver looks for all of them on one, where the first contact
 * point listens.
 *
 * @param {string[]} contactPoints
 */
const portOf = ([first = '']) => Number(/:(\d+)$/.exec(first)?.[1] ?? CQL_PORT);

/** @param {string} name as CQL has it: LOCAL_QUORUM @returns {string} as the driver has it: localQuorum */
const consistencyName = (name) => name.toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
