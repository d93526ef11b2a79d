import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { MillraceError } from '../../common/errors.js';
import { boundConnections } from '../access/index.js';
import { socketsOf } from '../access/tls/index.js';
import { safeHeaderLines } from './headers.js';
import { problemDocument } from './problems.js';

/** @import { RequestListener, ServerResponse } from 'node:http' */
/** @import { Server, Socket } from 'node:net' */
/** @import { Duplex } from 'node:stream' */
/** @import { ErrorCode } from '../../common/errors.js' */
/** @import { Bounds, PendingConnections } from '../access/connection-limits.js' */
/** @import { OwnCertificate } from '../access/tls/certificate-reload.js' */
/** @import { Metrics } from '../observability/metrics.js' */

/**
 * Limit of headers in bytes: enough for an address of `/stream` with the most ids. It is ten times Node's
 * default of 16 KiB.
 */
const MAX_HEADER_BYTES = 200 * 1024;

/** Interval of the checks for slow requests and stalled responses, in ms. */
const CHECK_EVERY_MS = 2000;

/**
 * Time that an idle connection is kept, in ms. With Node's default of 5 s a busy process closes connections on which the next request
 * has arrived already. The client then sees a reset.
 */
const KEEP_ALIVE_MS = 65_000;

/**
 * Limits of all connections and of those without a running request. Each of the latter may hold a header of `MAX_HEADER_BYTES`.
 *
 * @type {Bounds}
 */
export const BOUNDS = { connections: 10_000, pending: 1024 };

/**
 * The HTTP server of an app.
 *
 * @param {object} deps
 * @param {RequestListener} deps.app
 * @param {string} deps.host
 * @param {number} deps.port
 * @param {OwnCertificate | null} [deps.tls] default: without TLS
 * @param {() => void} deps.stopStreams
 * @param {number} deps.requestMs time in which a request must arrive with its body
 * @param {number} deps.stallMs a response is dropped if its client reads nothing for this time
 * @param {Metrics} deps.metrics
 * @param {Bounds} [deps.bounds]
 */
export function createHttpServer(deps) {
  const { app, host, port, tls = null, stopStreams, requestMs, stallMs, metrics, bounds = BOUNDS } = deps;
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, requestMs),
    // Node's own refusal bypasses `request`, and with it the limit of running requests. `app.js` checks the
    // host.
    requireHostHeader: false,
  };
  const server = tls ? createTlsServer({ ...options, ...tls.options }) : createServer(options);
  tls?.renewOn(server);
  const sockets = socketsOf(server);
  const pending = boundConnections(server, 'http', bounds, metrics);
  const responses = createStalledResponses({ pending, stallMs });
  const serve = disablePipelining((req, res) => {
    responses.begin(res);
    app(req, res);
  });
  // Ignores an unknown `Expect`. Node's own refusal would also bypass `request`.
  server.on('request', serve).on('checkExpectation', serve);
  repeatWhileListening(server, responses.check, Math.min(CHECK_EVERY_MS, stallMs / 4));
  server.on('clientError', clientErrorHandler({ encrypted: tls !== null }));

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

    /** Ends streams and idle connections, and lets running requests finish. */
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

    /** @returns {number} the port on which it listens */
    get port() {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : port;
    },
  };
}

/**
 * Calls a function periodically while a server listens.
 *
 * @param {Server} server
 * @param {() => void} call
 * @param {number} everyMs
 */
function repeatWhileListening(server, call, everyMs) {
  server.once('listening', () => {
    const timer = setInterval(call, everyMs);
    server.once('close', () => clearInterval(timer));
  });
}

/**
 * Passes the requests of a connection to the app one by one. Node passes all requests that arrive in one piece at once. When such a
 * connection closes, only the current response gets `close`, so the resources of the others would leak.
 *
 * One request may wait, because a client can read the last byte of a response before this process knows that it was sent, above all
 * with TLS. A second waiting request closes the connection, since thousands fit in one piece. A client that pipelines must expect
 * that (RFC 9112, 9.3.2).
 *
 * @param {RequestListener} app
 * @returns {RequestListener}
 */
function disablePipelining(app) {
  /** @type {WeakMap<Socket, { next?: () => void }>} connections with a running request */
  const busy = new WeakMap();

  /** @type {RequestListener} */
  function serve(req, res) {
    const { socket } = req;
    /** @type {{ next?: () => void }} */
    const turn = {};
    busy.set(socket, turn);
    app(req, res);
    // Runs after the listeners of the app, so that they finish before the next request starts.
    res.once('close', () => {
      busy.delete(socket);
      if (!socket.destroyed) turn.next?.();
    });
  }

  return (req, res) => {
    const turn = busy.get(req.socket);
    if (!turn) serve(req, res);
    else if (turn.next) req.socket.destroy();
    else turn.next = () => serve(req, res);
  };
}

/** Time for a client to read the refusal of a request that it may still be sending, in ms. */
const LINGER_MS = 2000;

/** @type {Record<string, ErrorCode>} by Node's code */
const REFUSALS = { HPE_HEADER_OVERFLOW: 'headers_too_large', ERR_HTTP_REQUEST_TIMEOUT: 'too_slow' };

/**
 * Answers malformed HTTP with a problem document and closes the connection. Such a request never reaches the app.
 *
 * @param {{ encrypted: boolean }} options
 * @returns {(error: NodeJS.ErrnoException, socket: Duplex) => void} for `clientError`
 */
function clientErrorHandler(options) {
  const headers = [
    ...safeHeaderLines(options),
    'Content-Type: application/problem+json; charset=utf-8',
    'Connection: close',
  ];
  return (error, socket) => {
    // Without a TLS session the client could not read an answer.
    const isHandshake = error.code?.startsWith('ERR_SSL') || error.code?.startsWith('ERR_TLS');
    if (isHandshake || error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const problem = new MillraceError(REFUSALS[error.code ?? ''] ?? 'bad_request');
    const body = problemDocument(problem);
    const lines = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      ...headers,
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
    const rest = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(rest));
  };
}

/**
 * Size of a piece in bytes. The socket reports progress only when a whole piece was written. So a response
 * gets `stallMs` again for each waiting piece of this size.
 */
export const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * Finds responses whose client stops reading. A connection with a running response is not pending. When the response has ended and only
 * the client delays it, the connection is pending again. After `stallMs` without progress it is destroyed. Node's own
 * timeout is no help: each byte that the client sends restarts it.
 *
 * @param {object} deps
 * @param {PendingConnections} deps.pending
 * @param {number} deps.stallMs time without progress after which a response is dropped
 * @param {() => number} [deps.elapsed] ms of a monotonic clock
 */
export function createStalledResponses({ pending, stallMs, elapsed = () => performance.now() }) {
  /** @type {Map<ServerResponse, { socket: Socket, written: number, since: number }>} */
  const running = new Map();

  return {
    /** @param {ServerResponse} res the current one of its connection */
    begin(res) {
      const { socket } = res.req;
      pending.pass(socket);
      running.set(res, { socket, written: 0, since: elapsed() });
      res.once('close', () => {
        running.delete(res);
        pending.enter(socket);
      });
    },

    /** Call it periodically. */
    check() {
      const now = elapsed();
      for (const [res, progress] of running) {
        const { socket } = progress;
        if (res.writableEnded) pending.enter(socket);
        const waiting = socket.writableLength;
        const written = socket.bytesWritten - waiting;
        if (waiting === 0 || written !== progress.written) Object.assign(progress, { written, since: now });
        else if (now - progress.since > stallMs * (1 + waiting / PIECE_BYTES)) socket.destroy();
      }
    },
  };
}
