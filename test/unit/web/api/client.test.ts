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
