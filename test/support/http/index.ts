import { type IncomingHttpHeaders, request } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from '@jest/globals';
import { watchAnswer } from '../contract/watch.ts';
import type { Json } from '../json.ts';

/**
 * Sends one request exactly as given, because `fetch` would normalize its path and its headers.
 * @param path as sent
 * @param options a body of several parts is sent in chunks, without a length; `isReader`: whether the contract applies, which covers
 * processes that serve readers
 */
export function send(
  origin: string,
  path: string,
  {
    method = 'GET',
    headers: sentHeaders = {},
    body,
    isReader = true,
  }: {
    method?: string;
    headers?: Record<string, string>;
    body?: string | Buffer | Iterable<Buffer>;
    isReader?: boolean;
  } = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: sentHeaders }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.once('end', () => {
        const { headers } = response;
        const status = Number(response.statusCode);
        const answer = {
          method,
          path,
          status,
          header: (name: string) => headers[name]?.toString(),
          text,
        };
        if (isReader) watchAnswer(answer);
        resolve({ status, headers, text });
      });
    });
    sent.once('error', reject);
    if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) sent.end(body);
    else Readable.from(body).pipe(sent);
  });
}

/** Internal details that no answer may contain: stacks, statements, files, hosts of the database. */
const INSIDE = /\bat .*\.[jt]s|node_modules|SELECT|INSERT|\.[jt]s:\d|127\.0\.0\.1:\d|cassandra/i;

/** Checks an answer against RFC 9457 and the table of error codes. */
export function expectProblem(
  { status: given, headers, text }: { status: number; headers: IncomingHttpHeaders; text: string },
  status: number,
  code: string,
): Json {
  expect({ status: given, text }).toEqual({ status, text: expect.stringContaining(`"${code}"`) });
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
  const problem = JSON.parse(text);
  expect(problem).toMatchObject({
    type: 'about:blank',
    title: expect.stringMatching(/./),
    status,
    code,
    detail: expect.stringMatching(/./),
  });
  expect(text).not.toMatch(INSIDE);
  return problem;
}
