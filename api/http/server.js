import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import { MillraceError } from '../../common/errors.js';
import { problemDocument } from './problems.js';

/** Room for an address that names all that `/stream` takes, by ids; Node's own 16 KiB are a tenth of that. In bytes. */
const MOST_HEADER_BYTES = 200 * 1024;

/**
 * The HTTP server of an app.
 *
 * @param {{ app: import('node:http').RequestListener, host: string, port: number, stopStreams: () => void }} parts
 */
export function createHttpServer({ app, host, port, stopStreams }) {
  const server = createServer({ maxHeaderSize: MOST_HEADER_BYTES }, app);
  server.on('clientError', refuse);

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

/**
 * What is no HTTP never reaches the app; it is answered as problems are, and the connection ends.
 *
 * @param {NodeJS.ErrnoException} error
 * @param {import('node:stream').Duplex} socket
 */
function refuse(error, socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const problem = new MillraceError(
    error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'bad_request',
  );
  const body = problemDocument(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\nContent-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
