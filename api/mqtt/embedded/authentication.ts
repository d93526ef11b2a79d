import { ipKeyGenerator } from 'express-rate-limit';
import { LogThrottle } from '../../../common/log-throttle.js';
import { printable } from '../../../common/printable.js';
import { parseTopic } from '../../../schema/topics.js';
import { MAX_PER_ACCOUNT, OwnConnections } from './connections.js';

/** @import { Socket } from 'node:net' */
/** @import { AuthenticateHandler, Client, PreConnectHandler } from 'aedes' */
/** @import { Logger } from 'pino' */
/** @import { Accounts } from '../../access/credentials/accounts.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Authorization } from './authorization.js' */
/** @import { Connection } from './connections.js' */

/** CONNACK return code for an unavailable server (MQTT 3.1.1, table 3.1). All other failures are 5, not authorized. */
const UNAVAILABLE = 3;

/**
 * Creates the handlers that authenticate clients and assign an account to each connection.
 *
 * @param {object} deps
 * @param {Accounts} deps.accounts
 * @param {(client: Client) => Connection | undefined} deps.connectionOf
 * @param {Authorization} deps.authorization
 * @param {AccessNotices} deps.notices
 * @param {Metrics} deps.metrics
 */
export function createAuthentication({ accounts, connectionOf, authorization, notices, metrics }) {
  // Each counter starts at 0, because Prometheus sees no increase in a counter that first appears as 1.
  for (const action of ['sign_in', 'connection']) metrics.denied.inc({ action }, 0);
  const ownConnections = new OwnConnections(({ name }) => {
    metrics.denied.inc({ action: 'connection' });
    notices.tooMany(name);
  });

  /**
   * @param {Client} client
   * @param {string | undefined} name
   * @param {Buffer | undefined} password
   * @returns {Promise<boolean>}
   */
  async function admit(client, name, password) {
    const connection = connectionOf(client);
    if (!connection) return false;
    const address = addressOf(client);
    const account = await accounts.signIn(name, password, { address, gone: connection.closed });
    if (!account) {
      metrics.denied.inc({ action: 'sign_in' });
      notices.signIn(name ?? '', address);
      return false;
    }
    connection.account = account;
    const { willTopic } = connection;
    if (
      willTopic !== undefined &&
      !authorization.canPublish(client, willTopic, parseTopic(willTopic), 'will')
    )
      return false;
    // A second connection with the same client id closes the first. The prefix prevents an account from closing connections of another
    // account.
    if (!account.isInstallation) client.id = `${account.deviceId}/${client.id}`;
    ownConnections.enter(connection);
    return true;
  }

  return {
    /** Stores the properties of CONNECT that `authenticate` does not receive. @type {PreConnectHandler} */
    preConnect(client, packet, done) {
      const connection = connectionOf(client);
      if (connection) {
        connection.willTopic = packet.will?.topic;
        connection.isTerse = packet.properties?.requestProblemInformation === false;
      }
      done(null, true);
    },

    /** @type {AuthenticateHandler} */
    authenticate(client, name, password, done) {
      admit(client, name, password).then(
        (admitted) => done(null, admitted),
        (error) => done(Object.assign(error, { returnCode: UNAVAILABLE }), false),
      );
    },
  };
}

/** @param {Client} client @returns {string} the IPv4 address of the client, or the network prefix of its IPv6 address */
function addressOf({ conn }) {
  const { remoteAddress } = /** @type {Socket} */ (conn);
  return remoteAddress === undefined ? '' : ipKeyGenerator(remoteAddress);
}

/** Maximum length of a text from a client in a log line, in characters. A longer text is cut off. */
const MAX_SHOWN = 128;

/**
 * Logs rejected clients and rejected requests: one line a minute for each account and kind of request. Failed sign-ins are counted by
 * address instead, because a client may give any name.
 */
export class AccessNotices {
  #logger;
  #throttle;

  /** @param {{ logger: Logger, everyMs?: number }} deps */
  constructor({ logger, everyMs }) {
    this.#logger = logger;
    this.#throttle = new LogThrottle({ everyMs });
  }

  /** Counts a failed sign-in. @param {string} name account name from the client @param {string} address of the client */
  signIn(name, address) {
    const failed = this.#throttle.count(`sign-in ${address}`);
    if (failed === 0) return;
    this.#logger.warn({ account: shown(name), address, failed }, 'wrong account or password, this one last');
  }

  /** Reports an account with too many connections. @param {string} account */
  tooMany(account) {
    if (this.#isDue(`connections ${account}`)) {
      this.#logger.warn(
        { account, most: MAX_PER_ACCOUNT },
        'too many connections of one account; the oldest closed',
      );
    }
  }

  /**
   * Reports a forbidden request.
   *
   * @param {string} account
   * @param {'publish' | 'subscribe' | 'filters' | 'will'} what
   * @param {string} topic or filter
   */
  forbidden(account, what, topic) {
    if (this.#isDue(`${what} ${account}`))
      this.#logger.warn({ account, what, topic: shown(topic) }, WORDS[what]);
  }

  /** @param {string} key @returns {boolean} whether a line with this key must be logged now */
  #isDue(key) {
    return this.#throttle.count(key) > 0;
  }
}

const WORDS = {
  publish: 'a topic that it has no permission to publish on; dropped',
  subscribe: 'a filter that it has no permission to subscribe to; refused',
  filters: 'more filters than a connection may have, or a longer one; refused',
  will: 'a last will on a topic that it has no permission to publish on; connection refused',
};

/** @param {string} text */
const shown = (text) => printable(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
