import { describe, expect, test } from '@jest/globals';
import { Client } from '../../../../web/api/client.ts';
import { toProblem } from '../../../../web/api/request.ts';

/** An answer whose connection breaks in the middle of its body. */
const brokenOff = () =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"items":['));
        controller.error(new TypeError('network error'));
      },
    }),
  );

const QUESTIONS: [name: string, ask: (client: Client) => Promise<unknown>][] = [
  ['latest values', (client) => client.latest({})],
  ['samples', (client) => client.samples('d', 's', {})],
];

describe.each(QUESTIONS)('API client: request for %s', (_name, ask) => {
  test('API client: the connection breaks within an answer: the request fails with a temporary problem, code unreachable', async () => {
    const client = new Client({ fetch: async () => brokenOff() });
    const problem = toProblem(await ask(client).catch((error) => error));
    expect(problem).toMatchObject({ code: 'unreachable', isTemporary: true });
  });
});

test('API client: the caller aborts a request: the request rejects with AbortError', async () => {
  const abort = new AbortController();
  abort.abort();
  const client = new Client({
    fetch: (input, init) => fetch(new URL(String(input), 'http://127.0.0.1:9'), init),
  });
  await expect(client.fleet(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
});

test('API client: samples of a range from an API without files: all pages are read, oldest first', async () => {
  const asked: string[] = [];
  const pages = [
    { items: [{ ts: '2026-11-21T00:00:00.000Z', value: 1 }], next: 'c' },
    { items: [{ ts: '2026-11-21T00:00:01.000Z', value: 2 }], next: null },
  ];
  const client = new Client({
    async fetch(input) {
      asked.push(String(input));
      return Response.json(pages[asked.length - 1]);
    },
  });
  const from = Date.UTC(2026, 10, 21);
  expect(await client.samples('d', 's', {})).toEqual({ ts: [from, from + 1000], value: [1, 2] });
  expect(asked).toEqual([
    '/api/v1/devices/d/sensors/s/measurements?order=asc',
    '/api/v1/devices/d/sensors/s/measurements?order=asc&limit=1000&cursor=c',
  ]);
});
