/**
 * All connections of a server, also those whose TLS has not come about yet, of which neither HTTP nor MQTT knows: closing
 * the server would wait for them.
 *
 * @param {import('node:net').Server} server
 */
export function socketsOf(server) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
