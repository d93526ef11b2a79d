import { once } from 'node:events';

/** @import { AddressInfo, Server } from 'node:net' */

/** Lets a server listen on a free port of this machine. @param {Server} server @returns {Promise<number>} the port */
export async function listening(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return /** @type {AddressInfo} */ (server.address()).port;
}
