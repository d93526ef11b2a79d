import type { Socket } from 'node:net';
import type { AuthenticateHandler, Client, PreConnectHandler } from 'aedes';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Logger } from 'pino';
import { LogThrottle } from '../../../common/log-throttle.ts';
import { printable } from '../../../common/printable.ts';
import type { Topic } from '../../../schema/topics.ts';
import type { Accounts } from '../../access/accounts.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Authorization } from './authorization.ts';
import { type Connection, MAX_PER_ACCOUNT, OwnConnections } from './connections.ts';
import { disconnect, REASONS } from './mqtt5.ts';

/** CONNACK return code of MQTT 3.1.1 (table 3.1). All other failures are 5, not authorized. */
const UNAVAILABLE = 3;

export function createAuthentication({
  accounts,
  parseTopic,
  connectionOf,
  authorization,
  notices,
  metrics,
}: {
  accounts: Accounts;
  parseTopic: (topic: string) => Topic | null;
  connectionOf: (client: Client) => Connection | undefined;
  authorization: Authorization;
  notices: AccessNotices;
  metrics: Metrics;
}): { preConnect: PreConnectHandler; authenticate: AuthenticateHandler } {
  // Each counter starts at 0, because Prometheus sees no increase in a counter that first appears as 1.
  for (const action of ['sign_in', 'connection']) metrics.denied.inc({ action }, 0);
  const ownConnections = new OwnConnections(({ name }) => {
    metrics.denied.inc({ action: 'connection' });
    notices.tooMany(name);
  });

  async function admit(
    client: Client,
    name: string | undefined,
    password: Buffer | undefined,
  ): Promise<boolean> {
    const connection = connectionOf(client);
    if (!connection) return false;
    const address = addressOf(client);
    const account = await accounts.signIn(name, password, {
      address,
      gone: connection.closed,
      reject: () => disconnect(client, REASONS.notAuthorized),
    });
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
    /** `authenticate` does not receive the properties of CONNECT. */
    preConnect(client, packet, done) {
      const connection = connectionOf(client);
      if (connection) {
        connection.willTopic = packet.will?.topic;
        connection.isTerse = packet.properties?.requestProblemInformation === false;
      }
      done(null, true);
    },

    authenticate(client, name, password, done) {
      admit(client, name, password).then(
        (admitted) => done(null, admitted),
        (error) => done(Object.assign(error, { returnCode: UNAVAILABLE }), false),
      );
    },
  };
}

/** Counts an IPv6 client by its network prefix. */
function addressOf({ conn }: Client): string {
  const { remoteAddress } = conn as Socket;
  return remoteAddress === undefined ? '' : ipKeyGenerator(remoteAddress);
}

const MAX_SHOWN = 128;

/** One line a minute for each account and kind of request. A client may give any name, so failed sign-ins count by address. */
export class AccessNotices {
  #logger;
  #throttle;

  constructor({ logger, everyMs }: { logger: Logger; everyMs?: number }) {
    this.#logger = logger;
    this.#throttle = new LogThrottle({ everyMs });
  }

  signIn(name: string, address: string) {
    const failed = this.#throttle.count(`sign-in ${address}`);
    if (failed === 0) return;
    this.#logger.warn({ account: shown(name), address, failed }, 'wrong account or password, this one last');
  }

  tooMany(account: string) {
    if (this.#isDue(`connections ${account}`)) {
      this.#logger.warn(
        { account, most: MAX_PER_ACCOUNT },
        'too many connections of one account; the oldest closed',
      );
    }
  }

  forbidden(account: string, what: 'publish' | 'subscribe' | 'filters' | 'will', topic: string) {
    if (this.#isDue(`${what} ${account}`))
      this.#logger.warn({ account, what, topic: shown(topic) }, WORDS[what]);
  }

  #isDue(key: string): boolean {
    return this.#throttle.count(key) > 0;
  }
}

const WORDS = {
  publish: 'a topic that it has no permission to publish on; dropped',
  subscribe: 'a filter that it has no permission to subscribe to; refused',
  filters: 'more filters than a connection may have, or a longer one; refused',
  will: 'a last will on a topic that it has no permission to publish on; connection refused',
};

const shown = (text: string) => printable(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
