import { createServer } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { bodyOf } from '../../../api/http/body.ts';
import { listening } from '../../support/http/listening.ts';

const LIMIT = 2 ** 20;
const TEXT = Buffer.from('m,device=d f=1 1\n'.repeat(100));

const app = express();
app.post('/', async (req, res) => {
  const read = await bodyOf(req, res, LIMIT, { compressed: true }).read();
  res.send(String(read.length));
});
app.use(((error, _req, res, _next) => void res.send(error.code)) as express.ErrorRequestHandler);
const server = createServer(app);
let url = '';
beforeAll(async () => {
  url = `http://127.0.0.1:${await listening(server)}/`;
});
afterAll(() => void server.close());

const post = async (coding: string, body: Buffer) => {
  const headers = { 'content-encoding': coding };
  return (await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })).text();
};

/** RFC 8878, 3.1.1: a window of 16 MiB, then one raw block of one byte. */
const FAR = Buffer.from('28b52ffd007009000078', 'hex');

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('HTTP body: Content-Encoding %s: exactly one whole content is read', async (coding, compress) => {
  const body = compress(TEXT);
  expect({
    whole: await post(coding, body),
    cut: await post(coding, body.subarray(0, -1)),
    half: await post(coding, body.subarray(0, body.length / 2)),
    more: await post(coding, Buffer.concat([body, Buffer.from('x')])),
    none: await post(coding, Buffer.alloc(0)),
    other: await post(coding, TEXT),
    large: await post(coding, compress(Buffer.alloc(LIMIT + 1))),
  }).toEqual({
    whole: String(TEXT.length),
    cut: 'malformed',
    half: 'malformed',
    more: 'malformed',
    none: 'malformed',
    other: 'malformed',
    large: 'too_large',
  });
});

test.each([
  ['members of gzip', 'gzip', Buffer.concat([gzipSync(TEXT), gzipSync(TEXT)]), String(2 * TEXT.length)],
  [
    'two frames of zstd',
    'zstd',
    Buffer.concat([zstdCompressSync(TEXT), zstdCompressSync(TEXT)]),
    'malformed',
  ],
  ['a window of zstd over 8 MB', 'zstd', FAR, 'malformed'],
  ['an unknown coding', 'lzw', TEXT, 'unknown_format'],
])('HTTP body: %s: the body is read as a whole, or refused', async (_, coding, body, answer) => {
  expect(await post(coding, body)).toBe(answer);
});
