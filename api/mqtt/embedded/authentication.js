import { ipKeyGenerator } from 'express-rate-limit';
import { LogThrottle } from '../../../common/log-throttle.js';
import { printable } from '../../../common/printable.js';
import { createOwnConnections, MOST_OF_AN_ACCOUNT } from './connections.js';

/** @import { Socket } from 'node:net' */
/** @import { AuthenticateHandler, Client, PreConnectHandler } from 'aedes' */
/** @import { Logger } from 'pino' */
/** @import { Accounts } from '../../access/credentials/accounts.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { Authorization } from './authorization.js' */
/** @import { Connection } from './connections.js' */

/** MQTT 3.1.1, table 3.1: the server is unavailable. What is wrong otherwise is 5, not authorized. */
const UNAVAILABLE = 3;

/**
 * Lets clients in, as the account that they sign in to.
 *
 * @param {object} parts
 * @param {Accounts} parts.accounts
 * @param {(client: Client) => Connection | undefined} parts.connectionOf
 * @param {Authorization} parts.authorization
 * @param {AccessNotices} parts.notices
 * @param {Metrics} parts.metrics
 */
export function createAuthentication({ accounts, connectionOf, authorization, notices, metrics }) {
  // What first appears as 1 shows no increase to Prometheus.
  for (const what of ['sign_in', 'connection']) metrics.turnedAway.inc({ what }, 0);
  const ownConnections = createOwnConnections(({ name }) => {
    metrics.turnedAway.inc({ what: 'connection' });
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
      metrics.turnedAway.inc({ what: 'sign_in' });
      notices.signIn(name ?? '', address);
      return false;
    }
    connection.account = account;
    const { willTopic } = connection;
    if (willTopic !== undefined && !authorization.canPublish(client, willTopic, 'will')) return false;
    // A client id ends the connection that has it already: so it counts within an account alone.
    if (!account.isInstallation) client.id = `${account.deviceId}/${client.id}`;
    ownConnections.enter(connection);
    return true;
  }

  return {
    /** Remembers what `authenticate` is not told of. @type {PreConnectHandler} */
    preConnect(client, packet, done) {
      const connection = connectionOf(client);
      if (connection) connection.willTopic = packet.will?.topic;
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

/** @param {Client} client @returns {string} where it connects from; of IPv6 its network, as elsewhere */
function addressOf({ conn }) {
  const { remoteAddress } = /** @type {Socket} */ (conn);
  return remoteAddress === undefined ? '' : ipKeyGenerator(remoteAddress);
}

/** Characters of a stranger's text that a line shows. */
const MOST_SHOWN = 128;

/**
 * Tells whoever reads the log who was turned away, and from what: of each device and what it did one line a minute, of failed
 * sign-ins one for each address, since their names are anybody's.
 *
 * @param {{ logger: Logger, everyMs?: number }} parts
 */
export function createAccessNotices({ logger, everyMs }) {
  const throttle = new LogThrottle({ everyMs });

  /** @param {string} key @returns {boolean} whether a line is due */
  const isDue = (key) => throttle.count(key) > 0;

  return {
    /** @param {string} name that was given @param {string} address that it came from */
    signIn(name, address) {
      const failed = throttle.count(`sign-in ${address}`);
      if (failed === 0) return;
      logger.warn({ account: shown(name), address, failed }, 'wrong account or password, this one last');
    },

    /** @param {string} account */
    tooMany(account) {
      if (isDue(`connections ${account}`)) {
        logger.warn(
          { account, most: MOST_OF_AN_ACCOUNT },
          'too many connections of one account; the oldest closed',
        );
      }
    },

    /**
     * @param {string} account
     * @param {'publish' | 'subscribe' | 'filters' | 'will'} what
     * @param {string} topic or filter
     */
    forbidden(account, what, topic) {
      if (isDue(`${what} ${account}`)) logger.warn({ account, what, topic: shown(topic) }, WORDS[what]);
    },
  };
}

/** @typedef {ReturnType<typeof createAccessNotices>} AccessNotices */

const WORDS = {
  publish: 'a topic that it has no right to publish on; connection closed',
  subscribe: 'a filter that it has no right to follow; refused',
  filters: 'more filters than a connection may have, or a longer one; refused',
  will: 'a last will on a topic that it has no right to publish on; not let in',
};

/** @param {string} text */
const shown = (text) => printable(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
