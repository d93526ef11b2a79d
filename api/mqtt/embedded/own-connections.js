/** @typedef {import('./connections.js').Connection} Connection */

/** One that it uses, one that is half dead and not yet known to be, and as many for who looks on. */
export const MOST_OF_AN_ACCOUNT = 4;

/**
 * Bounds the connections of an account: by ever new client ids, one credential could fill the broker. Of one too many the oldest
 * is closed: a device that comes back finds room, however many of its connections are dead by then. The installation's own
 * account is not bounded.
 *
 * @param {(account: import('../../access/credentials/permissions.js').Account) => void} onTooMany
 */
export function createOwnConnections(onTooMany) {
  /** @type {Map<string, Set<Connection>>} by the account's device, oldest first */
  const open = new Map();

  /** @param {string} deviceId @param {Connection} connection */
  function leave(deviceId, connection) {
    const own = open.get(deviceId);
    own?.delete(connection);
    if (own?.size === 0) open.delete(deviceId);
  }

  return {
    /** @param {Connection} connection that has signed in */
    enter(connection) {
      const { account, client, closed } = connection;
      if (!account || account.isInstallation || closed.aborted) return;
      const { deviceId } = account;
      const own = open.get(deviceId) ?? new Set();
      // The broker itself closes one of the same client id.
      const others = [...own].filter((one) => one.client.id !== client.id);
      open.set(deviceId, own.add(connection));
      closed.addEventListener('abort', () => leave(deviceId, connection), { once: true });
      const [oldest] = others;
      if (!oldest || others.length < MOST_OF_AN_ACCOUNT) return;
      onTooMany(account);
      leave(deviceId, oldest);
      oldest.client.conn.destroy();
    },
  };
}
