import { keepAlive } from './keepalive.js';

/** How often connections with unsettled messages are said to be alive, in ms: below the shortest limit, 1.5 s. */
const ALIVE_EVERY_MS = 1000;

/** @typedef {import('./connection.js').Connection} Connection */

/** All connections of the broker. */
export function createConnections() {
  /** @type {WeakMap<import('aedes').Client, Connection>} */
  const known = new WeakMap();
  /** @type {Set<Connection>} */
  const open = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  let heartbeat;

  function keepBusyAlive() {
    for (const { reader, client } of open) if (reader.isBusy) keepAlive(client);
  }

  return {
    /** @param {Connection} connection */
    add(connection) {
      known.set(connection.client, connection);
      open.add(connection);
      connection.closed.addEventListener('abort', () => open.delete(connection), { once: true });
    },

    /** @param {import('aedes').Client} client also one that is gone: its last will is still to be settled */
    of: (client) => known.get(client),

    /** Those that are open. @returns {Iterable<Connection>} */
    all: () => open,

    /** From now on the broker does not take for dead who is not read because of us. */
    watch() {
      heartbeat = setInterval(keepBusyAlive, ALIVE_EVERY_MS);
    },

    /** Nothing more is read. */
    quiesce() {
      for (const { reader } of open) reader.stop();
    },

    destroy() {
      clearInterval(heartbeat);
      for (const { client } of open) client.conn.destroy();
    },
  };
}

/** @typedef {ReturnType<typeof createConnections>} Connections */
