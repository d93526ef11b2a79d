import {
  brotliDecompress,
  constants,
  gunzip,
  inflate,
  type ZlibOptions,
  type ZstdOptions,
  zstdDecompress,
} from 'node:zlib';
import type { Request, Response } from 'express';
import { charsetOf, decodeText } from '../../common/encodings.ts';
import { codeOf, MillraceError } from '../../common/errors.ts';

/** In ms. The rest of a body may still arrive after an early answer, then the connection is closed. */
const LINGER_MS = 2000;

/** Content codings (RFC 9110, 8.4.1; RFC 7932; RFC 8878). `x-gzip` is another name of gzip. */
const CODINGS = new Map<string, Decompress>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
]);

type Decompress = (
  body: Buffer,
  options: ZlibOptions & ZstdOptions,
  callback: (error: Error | null, result: Buffer) => void,
) => void;

/** For the header `Accept-Encoding`. */
const ACCEPTED = 'gzip, deflate, br, zstd';

/** RFC 9659: a content of this coding needs a window of 8 MB at most. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

/** Node.js 22 takes a frame of zstd that was cut off for a whole one. Only a whole frame leaves this byte unread. */
const AFTER_FRAME = Buffer.alloc(1);

/**
 * The body is read on demand and never buffered beyond `limit` (bytes), which applies to the compressed and to the
 * decompressed body. The server's `requestTimeout` limits the time of the read. `bytes` is the size of the body, or
 * the limit if the size is unknown; `signal` aborts when the client disconnects.
 * @throws `too_large`, `unknown_format`; `read` also throws `bad_request` if the client disconnects, and `malformed`
 * if the body does not have its declared compression
 */
export function bodyOf(
  req: Request,
  res: Response,
  limit: number,
  { compressed = false }: { compressed?: boolean } = {},
): { bytes: number; read: () => Promise<Buffer>; signal: AbortSignal } {
  closeUnread(req, res);
  const length = req.headers['content-length'];
  const coding = codingOf(req, res, compressed);
  const decompress = CODINGS.get(coding);
  if (Number(length) > limit) throw tooLarge(limit);
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  return {
    bytes: length === undefined || decompress ? limit : Number(length),
    async read() {
      const body = await readBody(req, limit);
      return decompress ? decompressed(body, { decompress, coding, limit }) : body;
    },
    signal: closed.signal,
  };
}

/** `limit`: bytes. @throws `unknown_format`, `too_large`, and `malformed` if the body is no text of its charset */
export async function readJsonText(req: Request, res: Response, limit: number): Promise<string> {
  const { read } = bodyOf(req, res, limit);
  if (!req.is('application/json')) throw new MillraceError('unknown_format', 'Send application/json.');
  return decodeText(await read(), charsetOf(req.headers['content-type']));
}

/** A key of `CODINGS`, or `identity`. @throws `unknown_format` for a coding that is not accepted */
export function codingOf(req: Request, res: Response, compressed: boolean): string {
  const coding = req.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding === 'identity' || (compressed && CODINGS.has(coding))) return coding;
  // RFC 9110, 15.5.16: this header of a 415 answer names the accepted codings.
  res.set('Accept-Encoding', compressed ? ACCEPTED : 'identity');
  const message = compressed
    ? `Send the body as it is, or with one of the content codings ${ACCEPTED}.`
    : 'Send the body without a content coding.';
  throw new MillraceError('unknown_format', message);
}

function readBody(req: Request, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit) return void chunks.push(chunk);
      chunks.length = 0;
      reject(tooLarge(limit));
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    // The client has disconnected. The rejection releases the buffered chunks.
    const cutOff = () => reject(new MillraceError('bad_request', 'The body was cut off.'));
    if (req.destroyed) cutOff();
    else req.once('close', cutOff);
  });
}

/** `limit`: bytes of the result. @throws `too_large`, `malformed` */
async function decompressed(
  body: Buffer,
  { decompress, coding, limit }: { decompress: Decompress; coding: string; limit: number },
): Promise<Buffer> {
  const isZstd = decompress === zstdDecompress;
  const input = isZstd ? Buffer.concat([body, AFTER_FRAME]) : body;
  const options = { maxOutputLength: limit, info: true, ...(isZstd ? { params: ZSTD_PARAMS } : {}) };
  try {
    const { buffer, engine } = await new Promise<{ buffer: Buffer; engine: { bytesWritten: number } }>(
      (resolve, reject) =>
        decompress(input, options, (error, result) =>
          // With `info`, the types of Node.js do not have the result.
          error ? reject(error) : resolve(result as never),
        ),
    );
    // zlib ignores what follows, such as a second frame of zstd.
    if (engine.bytesWritten !== body.length) throw new Error('the content does not end with the body');
    return buffer;
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    const rule = isZstd
      ? 'Send one frame of zstd with a window of 8 MB at most.'
      : `Send nothing but ${coding}.`;
    throw new MillraceError('malformed', `The body is not valid ${coding}. ${rule}`, { cause: error });
  }
}

/**
 * For an answer that comes before the end of the request body. If the connection closed at once, a client that still sends would lose the
 * answer. The rest of the body is discarded.
 */
export function closeUnread(req: Request, res: Response) {
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS);
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    req.resume();
  });
}

const tooLarge = (limit: number) => new MillraceError('too_large', `The limit of a body is ${limit} bytes.`);
