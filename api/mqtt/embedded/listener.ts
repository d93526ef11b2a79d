import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Logger } from 'pino';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import type { Config } from '../../../common/settings/config.ts';
import type { Bounds } from '../../access/connection-limits.ts';
import { boundConnections } from '../../access/index.ts';
import type { OwnCertificate } from '../../access/tls/certificate-reload.ts';
import { socketsOf } from '../../access/tls/index.ts';
import type { Metrics } from '../../observability/metrics.ts';

/** When all devices reconnect, thousands of connections wait for their CONNACK. A busy process sends it within a second. */
const BOUNDS: Bounds = { connections: 20_000, pending: 4096, withinMs: 10_000 };

export class Listener {
  #host;
  #port;
  #server;
  #sockets;
  #pending;

  constructor({
    mqtt,
    tls = null,
    bounds = BOUNDS,
    onConnection,
    logger,
    metrics,
  }: {
    mqtt: Pick<Config['mqtt'], 'host' | 'port'>;
    tls?: OwnCertificate | null;
    bounds?: Bounds;
    onConnection: (socket: Socket) => void;
    logger: Logger;
    metrics: Metrics;
  }) {
    const { host, port } = mqtt;
    this.#host = host;
    this.#port = port;
    this.#server = tls ? createTlsServer(tls.options, onConnection) : createServer(onConnection);
    tls?.renewOn(this.#server);
    this.#sockets = socketsOf(this.#server);
    this.#server.on('tlsClientError', (error) => logger.debug({ reason: error.message }, 'TLS'));
    this.#pending = boundConnections(this.#server, 'mqtt', bounds, metrics);
  }

  /** @throws `port_taken` */
  async start(): Promise<void> {
    this.#server.listen(this.#port, this.#host);
    try {
      await once(this.#server, 'listening');
    } catch (error) {
      throw new MillraceError(
        'port_taken',
        `The embedded broker cannot listen on ${this.#host}:${this.#port}: ${messageOf(error)}. Set MQTT_PORT to a free port, or MQTT_URL to the broker that runs there.`,
        { cause: error },
      );
    }
  }

  pass(socket: Socket) {
    this.#pending.pass(socket);
  }

  close() {
    this.#server.close();
  }

  destroy() {
    this.#sockets.destroy();
  }

  get isListening() {
    return this.#server.listening;
  }

  /** Returns 0 if the broker does not listen. */
  get port(): number {
    const address = this.#server.address();
    return address && typeof address === 'object' ? address.port : 0;
  }
}

export const LIMITS = {
  drainTimeout: 5000,
};
