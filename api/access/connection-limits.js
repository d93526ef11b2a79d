import { createPendingConnections } from './pending-connections.js';

/**
 * Most connections that a server keeps, and of these most of which nothing is known yet.
 *
 * @typedef {object} Bounds
 * @property {number} connections all together; what is beyond is closed as it comes
 * @property {number} pending see `pending-connections.js`
 * @property {number} [withinMs] how long one may be pending
 */

/**
 * Bounds the connections of a server, with or without TLS: what is counted is TCP, so a handshake of TLS that is never
 * finished counts as well.
 *
 * @param {import('node:net').Server} server
 * @param {'mqtt' | 'http'} listener for the metric
 * @param {Bounds} bounds
 * @param {import('../observability/metrics.js').Metrics} metrics
 */
export function boundConnections(server, listener, { connections, pending: most, withinMs }, metrics) {
  const refused = (/** @type {'crowded' | 'silent' | 'full'} */ reason, by = 1) =>
    metrics.connectionsRefused.inc({ listener, reason }, by);
  // What first appears as 1 shows no increase to Prometheus.
  for (const reason of /** @type {const} */ (['crowded', 'silent', 'full'])) refused(reason, 0);
  const pending = createPendingConnections({ most, withinMs, onShut: refused });
  server.maxConnections = connections;
  server.on('drop', () => refused('full'));
  server.prependListener('connection', pending.enter);
  return pending;
}

/** @typedef {ReturnType<typeof boundConnections>} Pending */
