import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { MillraceError } from '../../common/errors.js';
import { boundConnections } from '../access/connection-limits.js';
import { socketsOf } from '../access/tls/sockets.js';
import { createAnswers } from './answers.js';
import { oneAtATime } from './one-at-a-time.js';
import { refusing } from './refusing.js';

/** Room for an address that names all that `/stream` takes, by ids; Node's own 16 KiB are a tenth of that. In bytes. */
const MOST_HEADER_BYTES = 200 * 1024;

/** How often it is looked whether requests come, and answers are taken, too slowly, in ms. */
const LOOK_EVERY_MS = 2000;

/**
 * How long an idle connection is kept, in ms. With Node's own 5 s a process that is busy for a second closes connections
 * on which the next request has arrived already, and the client sees them reset.
 */
const KEEP_ALIVE_MS = 65_000;

/**
 * Connections, and of these those on which no request is under way: each may hold a header of `MOST_HEADER_BYTES`.
 *
 * @type {import('../access/connection-limits.js').Bounds}
 */
export const BOUNDS = { connections: 10_000, pending: 1024 };

/**
 * The HTTP server of an app.
 *
 * @param {object} parts
 * @param {import('node:http').RequestListener} parts.app
 * @param {string} parts.host
 * @param {number} parts.port
 * @param {import('../access/tls/own-certificate.js').OwnCertificate | null} [parts.tls] default: it speaks without TLS
 * @param {() => void} parts.stopStreams
 * @param {number} parts.requestMs within which a request must have arrived, with its body
 * @param {number} parts.stallMs an answer of which nothing is taken for so long is given up
 * @param {import('../observability/metrics.js').Metrics} parts.metrics
 * @param {import('../access/connection-limits.js').Bounds} [parts.bounds]
 */
export function createHttpServer(parts) {
  const { app, host, port, tls = null, stopStreams, requestMs, stallMs, metrics, bounds = BOUNDS } = parts;
  const options = {
    maxHeaderSize: MOST_HEADER_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(LOOK_EVERY_MS, requestMs),
    // Node's own refusal goes past `request`, and so past the bound on how many are under way; see `guards.js`.
    requireHostHeader: false,
  };
  const server = tls ? createTlsServer({ ...options, ...tls.options }) : createServer(options);
  tls?.renewOn(server);
  const sockets = socketsOf(server);
  const pending = boundConnections(server, 'http', bounds, metrics);
  const answers = createAnswers({ pending, stallMs });
  const serve = oneAtATime((req, res) => {
    answers.begin(res);
    app(req, res);
  });
  // An expectation that we do not know is passed over: Node would refuse it past `request`, too.
  server.on('request', serve).on('checkExpectation', serve);
  lookAfter(server, answers.look, Math.min(LOOK_EVERY_MS, stallMs / 4));
  server.on('clientError', refusing({ encrypted: tls !== null }));

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
      const rest = setTimeout(sockets.destroy, 2000);
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
 * Does something every now and then while a server listens.
 *
 * @param {import('node:net').Server} server
 * @param {() => void} look
 * @param {number} everyMs
 */
function lookAfter(server, look, everyMs) {
  server.once('listening', () => {
    const timer = setInterval(look, everyMs);
    server.once('close', () => clearInterval(timer));
  });
}
