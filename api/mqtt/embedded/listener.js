import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { MillraceError } from '../../../common/errors.js';
import { boundConnections } from '../../access/connection-limits.js';
import { socketsOf } from '../../access/tls/index.js';

/** @import { Socket } from 'node:net' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Bounds } from '../../access/connection-limits.js' */
/** @import { OwnCertificate } from '../../access/tls/own-certificate.js' */
/** @import { Metrics } from '../../observability/metrics.js' */

/**
 * When a whole fleet reconnects, thousands of connections wait for their CONNACK. A busy process answers a CONNECT within a second.
 *
 * @type {Bounds}
 */
const BOUNDS = { connections: 20_000, pending: 4096, withinMs: 10_000 };

/**
 * The port for devices, with or without TLS.
 *
 * @param {object} options
 * @param {Pick<Config['mqtt'], 'host' | 'port'>} options.mqtt
 * @param {OwnCertificate | null} [options.tls] default: no TLS
 * @param {Bounds} [options.bounds]
 * @param {(socket: Socket) => void} options.onConnection
 * @param {Logger} options.logger
 * @param {Metrics} options.metrics
 */
export function createListener({ mqtt, tls = null, bounds = BOUNDS, onConnection, logger, metrics }) {
  const { host, port } = mqtt;
  const server = tls ? createTlsServer(tls.options, onConnection) : createServer(onConnection);
  tls?.renewOn(server);
  const sockets = socketsOf(server);
  server.on('tlsClientError', (error) => logger.debug({ reason: error.message }, 'TLS'));
  const pending = boundConnections(server, 'mqtt', bounds, metrics);

  return {
    /** The client of this socket has signed in. */
    pass: pending.pass,

    /** @returns {Promise<void>} @throws {MillraceError} `port_taken` */
    async start() {
      server.listen(port, host);
      try {
        await once(server, 'listening');
      } catch (error) {
        throw new MillraceError(
          'port_taken',
          `The embedded broker cannot listen on ${host}:${port}: ${/** @type {Error} */ (error).message}. Set MQTT_PORT to a free port, or MQTT_URL to the broker that runs there.`,
          { cause: error },
        );
      }
    },

    /** Accepts no more connections. */
    close: () => void server.close(),

    /** Closes all connections, also those in the TLS handshake. */
    destroy: sockets.destroy,

    get isListening() {
      return server.listening;
    },

    /** @returns {number} the listening port */
    get port() {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : 0;
    },
  };
}

/** @typedef {ReturnType<typeof createListener>} Listener */

/** Limits that aedes checks. */
export const LIMITS = {
  /** Every packet id of MQTT. The broker keeps only the id of a QoS 2 message that waits for its PUBREL. */
  maxInflightInbound: 65_535,

  /** aedes closes a connection whose client reads nothing for this long, in ms. */
  drainTimeout: 5000,
};
