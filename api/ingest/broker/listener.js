import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { MillraceError } from '../../../common/errors.js';
import { boundConnections } from '../../connection-bounds.js';
import { socketsOf } from '../../tls/sockets.js';

/**
 * A fleet that comes back at once has thousands of connections that are not answered yet; a CONNECT takes a second of a
 * busy process at most.
 *
 * @type {import('../../connection-bounds.js').Bounds}
 */
const BOUNDS = { connections: 20_000, pending: 4096, withinMs: 10_000 };

/**
 * Where devices connect, with or without TLS.
 *
 * @param {object} parts
 * @param {Pick<import('../../../common/settings/index.js').Config['mqtt'], 'host' | 'port'>} parts.mqtt
 * @param {import('../../tls/own-certificate.js').OwnCertificate | null} [parts.tls] default: it speaks without TLS
 * @param {import('../../connection-bounds.js').Bounds} [parts.bounds]
 * @param {(socket: import('node:net').Socket) => void} parts.onConnection
 * @param {import('pino').Logger} parts.logger
 * @param {import('../../metrics.js').Metrics} parts.metrics
 */
export function createListener({ mqtt, tls = null, bounds = BOUNDS, onConnection, logger, metrics }) {
  const { host, port } = mqtt;
  const server = tls ? createTlsServer(tls.options, onConnection) : createServer(onConnection);
  tls?.renewOn(server);
  const sockets = socketsOf(server);
  server.on('tlsClientError', (error) => logger.debug({ reason: error.message }, 'TLS'));
  const pending = boundConnections(server, 'mqtt', bounds, metrics);

  return {
    /** It is known who that is. */
    pass: pending.pass,

    /** @returns {Promise<void>} @throws {MillraceError} `port_taken` */
    async start() {
      server.listen(port, host);
      try {
        await once(server, 'listening');
      } catch (error) {
        throw new MillraceError(
          'port_taken',
          `The embedded broker cannot listen on ${host}:${port}: ${/** @type {Error} */ (error).message}. Set MQTT_PORT to a free port, or MQTT_URL to the broker that is there.`,
          { cause: error },
        );
      }
    },

    /** Takes no more connections. */
    close: () => void server.close(),

    /** Ends all connections, also those whose TLS has not come about yet. */
    destroy: sockets.destroy,

    get isListening() {
      return server.listening;
    },

    /** @returns {number} the port that it listens on */
    get port() {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : 0;
    },
  };
}

/** @typedef {ReturnType<typeof createListener>} Listener */
