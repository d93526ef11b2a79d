import { STATUS_CODES } from 'node:http';
import { MillraceError } from '../../common/errors.js';
import { safeHeaderLines } from './headers.js';
import { problemDocument } from './problems.js';

/** Who is told that his request is no good may still be sending it, and has this long to hear it, in ms. */
const LINGER_MS = 2000;

/** @type {Record<string, import('../../common/errors.js').ErrorCode>} by Node's code */
const REFUSALS = { HPE_HEADER_OVERFLOW: 'headers_too_large', ERR_HTTP_REQUEST_TIMEOUT: 'too_slow' };

/**
 * What is no HTTP never reaches the app; it is answered as problems are, and the connection ends.
 *
 * @param {{ encrypted: boolean }} options
 * @returns {(error: NodeJS.ErrnoException, socket: import('node:stream').Duplex) => void} for `clientError`
 */
export function refusing(options) {
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
