import { expect, test } from '@jest/globals';
import { objectionTo } from '../../support/contract/answers.ts';

const PAGE = { items: [], next: null };
const PROBLEM = { type: 'about:blank', title: 'Not Found', status: 404, code: 'not_found', detail: 'No.' };

const objection = ({
  method = 'GET',
  path = '/api/v1/latest',
  status = 200,
  headers = {},
  ...rest
}: {
  method?: string;
  path?: string;
  status?: number;
  type?: string;
  body?: unknown;
  headers?: Record<string, string>;
}) => {
  const { type = 'application/json; charset=utf-8', body = PAGE } = rest;
  const all: Record<string, string> = { 'content-type': type, ...headers };
  return objectionTo({ method, path, status, header: (name) => all[name], text: JSON.stringify(body) });
};

const problem = (other?: Partial<typeof PROBLEM>) => {
  const body = { ...PROBLEM, ...other };
  return { status: body.status, type: 'application/problem+json', body };
};

test.each([
  ['a page', {}],
  ['a page, requested with a query', { path: '/api/v1/latest?limit=1' }],
  ['a device that does not exist', { path: '/api/v1/devices/a', ...problem() }],
  ['a path that does not exist', { path: '/api/v1/nothing', ...problem() }],
  ['a file of the dashboard', { path: '/assets/main.js', type: 'text/javascript' }],
  [
    'a method that is not served',
    {
      method: 'PUT',
      headers: { allow: 'GET, HEAD' },
      ...problem({ status: 405, title: 'Method Not Allowed', code: 'method_not_allowed' }),
    },
  ],
])('OpenAPI check of answers: %s: accepted', (_, answer) => expect(objection(answer)).toBeNull());

test.each([
  ['a status that is not described', { status: 204 }, 'no problem document'],
  ['a media type that is not described', { type: 'text/html' }, 'text/html is not described'],
  ['an additional member', { body: { ...PAGE, total: 0 } }, 'total'],
  ['a missing member', { body: { items: [] } }, 'next'],
  ['a member of another type', { body: { items: {}, next: null } }, 'items'],
  ['a problem of another route', problem(), 'not_found is not described'],
  ['a problem with an empty detail', { path: '/api/v1/devices/a', ...problem({ detail: '' }) }, 'detail'],
  [
    '405 without the list of methods',
    { method: 'PUT', ...problem({ status: 405, title: 'Method Not Allowed', code: 'method_not_allowed' }) },
    'no header allow',
  ],
  ['an answer to a method that is not served', { method: 'DELETE' }, 'no problem document'],
  ['an answer of a path that does not exist', { path: '/api/v1/nothing' }, 'no problem document'],
])('OpenAPI check of answers: %s: refused', (_, answer, text) => expect(objection(answer)).toContain(text));
