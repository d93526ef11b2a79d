import { once } from 'node:events';
import { createServer } from 'node:http';
import { MillraceError } from '../../common/errors.js';

/**
 * The HTTP server of an app.
 *
 * @param {{ app: import('node:http').RequestListener, host: string, port: number, stopStreams: () => void }} parts
 */
export function createHttpServer({ app, host, port, stopStreams }) {
  const server = createServer(app);

  return {
    /** @throws {MillraceError} `port_taken` */
    async start() {
      server.listen(port, host);
      try {
        await once(server, 'listening');
      } catch (error) {
        throw new MillraceError(
          'port_taken',
          `The API cannot listen on ${host}:${port}: ${/** @type {Error} */ (error).message}. Set HTTP_PORT to a free port.`,
          { cause: error },
        );
      }
    },

    /** Ends streams, lets requests finish that are under way, and closes what only waits. */
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      stopStreams();
      server.closeIdleConnections();
      const rest = setTimeout(() => server.closeAllConnections(), 2000);
      await closed;
      clearTimeout(rest);
    },

    /** @returns {number} the port that it listens on */
    get port() {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : port;
    },
  };
}
