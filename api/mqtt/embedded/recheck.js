/** @typedef {import('./connections.js').Connection} Connection */

/**
 * Ends the connections of accounts whose credential was rotated or revoked, whichever process did it: all are held against the
 * database now and then, a hundred a request.
 *
 * @param {object} parts
 * @param {() => Iterable<Connection>} parts.connections those that are open
 * @param {import('../../access/credentials/accounts.js').Accounts} parts.accounts
 * @param {number} parts.everyMs
 * @param {import('pino').Logger} parts.logger
 */
export function createRecheck({ connections, accounts, everyMs, logger }) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  let isStopped = false;

  /** @param {(connection: Connection) => boolean} isMeant */
  async function look(isMeant) {
    const open = [...connections()].filter((one) => one.account !== null && isMeant(one));
    const outdated = await accounts.outdated(open.flatMap(({ account }) => account ?? []));
    for (const { client, account } of open) {
      if (!account || !outdated.has(account)) continue;
      logger.info({ account: account.name }, 'its credential is good no more; connection closed');
      client.conn.destroy();
    }
  }

  /** @param {(connection: Connection) => boolean} isMeant */
  async function tryToLook(isMeant) {
    try {
      await look(isMeant);
    } catch (error) {
      // The database is away; the next time will do.
      logger.debug({ reason: /** @type {Error} */ (error).message }, 'credentials not checked');
    }
  }

  async function goOn() {
    await tryToLook(() => true);
    start();
  }

  function start() {
    // One after the other, however long one takes.
    if (!isStopped) timer = setTimeout(goOn, everyMs).unref();
  }

  return {
    start,
    /** @param {string} deviceId whose credential has changed @returns {Promise<void>} when its connections are closed */
    now: (deviceId) => tryToLook(({ account }) => account?.deviceId === deviceId),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
