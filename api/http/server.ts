import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, MillraceError, messageOf } from '../../common/errors.ts';
import type { Bounds, PendingConnections } from '../access/connection-limits.ts';
import { boundConnections } from '../access/index.ts';
import type { OwnCertificate } from '../access/tls/certificate-reload.ts';
import { socketsOf } from '../access/tls/index.ts';
import type { Metrics } from '../observability/metrics.ts';
import { safeHeaderLines } from './headers.ts';
import { problemDocument } from './problems.ts';

/** In bytes. An address of `/stream` with the maximum number of ids fits. The limit is more than ten times Node's default of 16 KiB. */
const MAX_HEADER_BYTES = 200 * 1024;

/** In ms, for slow requests and stalled responses. */
const CHECK_EVERY_MS = 2000;

/**
 * In ms, for an idle connection. With Node's default of 5 s, a busy process closes connections on which the next request has already
 * arrived. The client then sees a reset.
 */
const KEEP_ALIVE_MS = 65_000;

/** Limits of all connections, and of those without a running request, which may hold a header of `MAX_HEADER_BYTES`. */
export const BOUNDS: Bounds = { connections: 10_000, pending: 1024 };

export function createHttpServer(deps: {
  app: RequestListener;
  host: string;
  port: number;
  tls?: OwnCertificate | null;
  stopStreams: () => void;
  /** time in ms in which a request must arrive with its body */
  requestMs: number;
  /** a response is dropped if its client reads nothing for this time */
  stallMs: number;
  metrics: Metrics;
  bounds?: Bounds;
}) {
  const { app, host, port, tls = null, stopStreams, requestMs, stallMs, metrics, bounds = BOUNDS } = deps;
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, requestMs),
    // `app.ts` checks the header `Host`. Node's own refusal bypasses the event `request`, and with it the limit of running requests.
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
  // An unknown `Expect` is ignored. Node's own refusal would also bypass the event `request`.
  server.on('request', serve).on('checkExpectation', serve);
  repeatWhileListening(server, responses.check, Math.min(CHECK_EVERY_MS, stallMs / 4));
  server.on('clientError', clientErrorHandler({ encrypted: tls !== null }));

  return {
    /** @throws `port_taken` */
    async start() {
      server.listen(port, host);
      try {
        await once(server, 'listening');
      } catch (error) {
        throw new MillraceError(
          'port_taken',
          `The API cannot listen on ${host}:${port}: ${messageOf(error)}. Set HTTP_PORT to a free port.`,
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

    get port(): number {
      const address = server.address();
      return address && typeof address === 'object' ? address.port : port;
    },
  };
}

function repeatWhileListening(server: Server, call: () => void, everyMs: number) {
  server.once('listening', () => {
    const timer = setInterval(call, everyMs);
    server.once('close', () => clearInterval(timer));
  });
}

/**
 * Passes the requests of a connection to the app one by one. If several requests arrive together, Node passes all of them at
 * once. When such a connection closes, only the current response gets `close`, so the resources of the other responses would
 * leak.
 *
 * One request may wait. A client can read the last byte of a response before this process knows that it was sent, above all with
 * TLS, and send its next request. A second waiting request closes the connection, because thousands of requests fit into one
 * packet. A client that pipelines must expect a closed connection (RFC 9112, 9.3.2).
 */
function disablePipelining(app: RequestListener): RequestListener {
  /** connections with a running request, and the request that waits */
  const busy: WeakMap<Socket, { next?: () => void }> = new WeakMap();

  const serve: RequestListener = (req, res) => {
    const { socket } = req;
    const turn: { next?: () => void } = {};
    busy.set(socket, turn);
    app(req, res);
    // This listener runs after the listeners of the app, so that they finish before the next request starts.
    res.once('close', () => {
      busy.delete(socket);
      if (!socket.destroyed) turn.next?.();
    });
  };

  return (req, res) => {
    const turn = busy.get(req.socket);
    if (!turn) serve(req, res);
    else if (turn.next) req.socket.destroy();
    else turn.next = () => serve(req, res);
  };
}

/** In ms. A client that may still be sending its request can read the refusal, then the connection is closed. */
const LINGER_MS = 2000;

/** codes of Millrace by the error codes of Node.js */
const REFUSALS: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'too_slow',
};

/** Answers malformed HTTP, which never reaches the app, with a problem document and closes the connection. */
function clientErrorHandler(options: {
  encrypted: boolean;
}): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const headers = [
    ...safeHeaderLines(options),
    'Content-Type: application/problem+json; charset=utf-8',
    'Connection: close',
  ];
  return (error, socket) => {
    // After a failed TLS handshake, the client could not read an answer.
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
 * Size of the largest write to a socket, which reports progress only when a whole write has left. So a response may stall for another `stallMs`
 * for each waiting portion of this size.
 */
export const PIECE_BYTES = 2 * 1024 * 1024;

/**
 * Closes connections whose client stops reading its response. A connection with a running response does not count as pending. When the
 * response has ended and only the client delays it, the connection counts as pending again. Node's own timeout does not help, because each
 * byte that the client sends restarts it.
 */
export function createStalledResponses({
  pending,
  stallMs,
  elapsed = () => performance.now(),
}: {
  pending: PendingConnections;
  stallMs: number;
  elapsed?: () => number;
}) {
  const running: Map<ServerResponse, { socket: Socket; written: number; since: number }> = new Map();

  return {
    begin(res: ServerResponse) {
      const { socket } = res.req;
      pending.pass(socket);
      running.set(res, { socket, written: 0, since: elapsed() });
      res.once('close', () => {
        running.delete(res);
        pending.enter(socket);
      });
    },

    /** Must be called periodically. */
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
