import { request } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from '@jest/globals';
import { watchAnswer } from '../contract/watch.js';

/** @import { IncomingHttpHeaders } from 'node:http' */

/**
 * Sends one request exactly as given, because `fetch` would normalize its path and its headers.
 *
 * @param {string} origin
 * @param {string} path as sent
 * @param {{ method?: string, headers?: Record<string, string>, body?: string | Buffer | Iterable<Buffer>, isReader?: boolean }} [options]
 *   a body of several parts is sent in chunks, without a length; `isReader`: whether the contract applies,
 *   which covers processes that serve readers
 * @returns {Promise<{ status: number, headers: IncomingHttpHeaders, text: string }>}
 */
export function send(
  origin,
  path,
  { method = 'GET', headers: sentHeaders = {}, body, isReader = true } = {},
) {
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
          header: (/** @type {string} */ name) => headers[name]?.toString(),
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

/**
 * Checks an answer against RFC 9457 and the table of error codes.
 *
 * @param {{ status: number, headers: IncomingHttpHeaders, text: string }} answer
 * @param {number} status
 * @param {string} code
 * @returns {any} the problem
 */
export function expectProblem({ status: given, headers, text }, status, code) {
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
