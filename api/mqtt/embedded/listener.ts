import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { MillraceError } from '../../../common/errors.js';
import { boundConnections } from '../../access/index.js';
import { socketsOf } from '../../access/tls/index.js';

/** @import { Socket } from 'node:net' */
/** @import { Logger } from 'pino' */
/** @import { Config } from '../../../common/settings/config.js' */
/** @import { Bounds } from '../../access/connection-limits.js' */
/** @import { OwnCertificate } from '../../access/tls/certificate-reload.js' */
/** @import { Metrics } from '../../observability/metrics.js' */

/**
 * Limits of connections: in total, without a CONNACK, and time in ms until the CONNACK. When all devices reconnect,
 * thousands of connections wait for their CONNACK. A busy process answers a CONNECT within a second.
 *
 * @type {Bounds}
 */
const BOUNDS = { connections: 20_000, pending: 4096, withinMs: 10_000 };

/** The port for devices, with or without TLS. */
export class Listener {
  #host;
  #port;
  #server;
  #sockets;
  #pending;

  /**
   * @param {object} options
   * @param {Pick<Config['mqtt'], 'host' | 'port'>} options.mqtt
   * @param {OwnCertificate | null} [options.tls] default: no TLS
   * @param {Bounds} [options.bounds]
   * @param {(socket: Socket) => void} options.onConnection
   * @param {Logger} options.logger
   * @param {Metrics} options.metrics
   */
  constructor({ mqtt, tls = null, bounds = BOUNDS, onConnection, logger, metrics }) {
    const { host, port } = mqtt;
    this.#host = host;
    this.#port = port;
    this.#server = tls ? createTlsServer(tls.options, onConnection) : createServer(onConnection);
    tls?.renewOn(this.#server);
    this.#sockets = socketsOf(this.#server);
    this.#server.on('tlsClientError', (error) => logger.debug({ reason: error.message }, 'TLS'));
    this.#pending = boundConnections(this.#server, 'mqtt', bounds, metrics);
  }

  /** Listens on the port. @returns {Promise<void>} @throws {MillraceError} `port_taken` */
  async start() {
    this.#server.listen(this.#port, this.#host);
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      throw new MillraceError(
        'port_taken',
        `The embedded broker cannot listen on ${this.#host}:${this.#port}: ${/** @type {Error} */ (error).message}. Set MQTT_PORT to a free port, or MQTT_URL to the broker that runs there.`,
        { cause: error },
      );
    }
  }

  /** Ends the time limit of a connection whose client has signed in. @param {Socket} socket of the client */
  pass(socket) {
    this.#pending.pass(socket);
  }

  /** Accepts no more connections. */
  close() {
    this.#server.close();
  }

  /** Closes all connections, including those in the TLS handshake. */
  destroy() {
    this.#sockets.destroy();
  }

  /** Whether the port accepts connections. */
  get isListening() {
    return this.#server.listening;
  }

  /** @returns {number} the port on which the broker listens; 0: it does not listen */
  get port() {
    const address = this.#server.address();
    return address && typeof address === 'object' ? address.port : 0;
  }
}

/** Limits that aedes checks. */
export const LIMITS = {
  /** aedes closes a connection whose client reads nothing for this long, in ms. */
  drainTimeout: 5000,
};
