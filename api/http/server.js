import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { MillraceError } from '../../common/errors.js';
import { boundConnections } from '../access/connection-limits.js';
import { socketsOf } from '../access/tls/index.js';
import { safeHeaderLines } from './headers.js';
import { problemDocument } from './problems.js';

/** @import { RequestListener, ServerResponse } from 'node:http' */
/** @import { Server, Socket } from 'node:net' */
/** @import { Duplex } from 'node:stream' */
/** @import { ErrorCode } from '../../common/errors.js' */
/** @import { Bounds, PendingConnections } from '../access/connection-limits.js' */
/** @import { OwnCertificate } from '../access/tls/own-certificate.js' */
/** @import { Metrics } from '../observability/metrics.js' */

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
 * @type {Bounds}
 */
export const BOUNDS = { connections: 10_000, pending: 1024 };

/**
 * The HTTP server of an app.
 *
 * @param {object} parts
 * @param {RequestListener} parts.app
 * @param {string} parts.host
 * @param {number} parts.port
 * @param {OwnCertificate | null} [parts.tls] default: it speaks without TLS
 * @param {() => void} parts.stopStreams
 * @param {number} parts.requestMs within which a request must have arrived, with its body
 * @param {number} parts.stallMs an answer of which nothing is taken for so long is given up
 * @param {Metrics} parts.metrics
 * @param {Bounds} [parts.bounds]
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
 * @param {Server} server
 * @param {() => void} look
 * @param {number} everyMs
 */
function lookAfter(server, look, everyMs) {
  server.once('listening', () => {
    const timer = setInterval(look, everyMs);
    server.once('close', () => clearInterval(timer));
  });
}

/**
 * Hands the app the requests of a connection one after the other, as somebody sends them who waits for his answers. Node itself
 * hands over all that come in one piece at once, and when the connection ends, it tells only that answer whose turn it is: what is
 * held for the others would be held for ever.
 *
 * One may wait: the last byte of an answer can be read before it is known here that it was sent, above all with TLS. With
 * a second one that waits the connection ends, since thousands fit in one piece; who sends without waiting has to bear that
 * (RFC 9112, 9.3.2).
 *
 * @param {RequestListener} app
 * @returns {RequestListener}
 */
function oneAtATime(app) {
  /** @type {WeakMap<Socket, { next?: () => void }>} those with a request under way */
  const busy = new WeakMap();

  /** @type {RequestListener} */
  function serve(req, res) {
    const { socket } = req;
    /** @type {{ next?: () => void }} */
    const turn = {};
    busy.set(socket, turn);
    app(req, res);
    // After what the app does at the end of an answer: the next one has not begun by then.
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

/** Who is told that his request is no good may still be sending it, and has this long to hear it, in ms. */
const LINGER_MS = 2000;

/** @type {Record<string, ErrorCode>} by Node's code */
const REFUSALS = { HPE_HEADER_OVERFLOW: 'headers_too_large', ERR_HTTP_REQUEST_TIMEOUT: 'too_slow' };

/**
 * What is no HTTP never reaches the app; it is answered as problems are, and the connection ends.
 *
 * @param {{ encrypted: boolean }} options
 * @returns {(error: NodeJS.ErrnoException, socket: Duplex) => void} for `clientError`
 */
function refusing(options) {
  const headers = [
    ...safeHeaderLines(options),
    'Content-Type: application/problem+json; charset=utf-8',
    'Connection: close',
  ];
  return (error, socket) => {
    // Where TLS did not come about nobody would understand an answer.
    const isSecret = error.code?.startsWith('ERR_SSL') || error.code?.startsWith('ERR_TLS');
    if (isSecret || error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
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
 * It is not told how much of a piece is taken, only when it is taken whole: for each so many bytes that wait there is
 * `stallMs` once more.
 */
export const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * The answers that are under way. Their connections are not among those that say nothing for themselves, until nothing but
 * their client keeps them: who does not take his answer is one of the crowd again, and given up after `stallMs`. Node's own
 * timeout would not do: each byte that he sends begins it anew.
 *
 * @param {object} parts
 * @param {PendingConnections} parts.pending
 * @param {number} parts.stallMs an answer of which no part is taken for so long is given up
 * @param {() => number} [parts.elapsed] ms of a clock that never goes back
 */
export function createAnswers({ pending, stallMs, elapsed = () => performance.now() }) {
  /** @type {Map<ServerResponse, { socket: Socket, taken: number, since: number }>} */
  const underWay = new Map();

  return {
    /** @param {ServerResponse} res whose turn it is on its connection */
    begin(res) {
      const { socket } = res.req;
      pending.pass(socket);
      underWay.set(res, { socket, taken: 0, since: elapsed() });
      res.once('close', () => {
        underWay.delete(res);
        pending.enter(socket);
      });
    },

    /** To be called every now and then. */
    look() {
      const now = elapsed();
      for (const [res, progress] of underWay) {
        const { socket } = progress;
        if (res.writableEnded) pending.enter(socket);
        const waiting = socket.writableLength;
        const taken = socket.bytesWritten - waiting;
        if (waiting === 0 || taken !== progress.taken) Object.assign(progress, { taken, since: now });
        else if (now - progress.since > stallMs * (1 + waiting / PIECE_BYTES)) socket.destroy();
      }
    },
  };
}
