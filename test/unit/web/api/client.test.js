import { describe, expect, test } from '@jest/globals';
import { createClient } from '../../../../web/api/client.ts';
import { toProblem } from '../../../../web/api/request.ts';

/** @import { Client } from '../../../../web/api/client.ts' */

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

/** @type {[name: string, ask: (client: Client) => Promise<unknown>][]} */
const QUESTIONS = [
  ['a page', (client) => client.latest({})],
  ['samples', (client) => client.samples('d', 's', {})],
];

describe.each(QUESTIONS)('API client: the answer of %s breaks off', (_name, ask) => {
  test('API client: the connection breaks within an answer: the problem is temporary, with the code unreachable', async () => {
    const client = createClient({ fetch: async () => brokenOff() });
    const problem = toProblem(await ask(client).catch((error) => error));
    expect(problem).toMatchObject({ code: 'unreachable', isTemporary: true });
  });
});

test('API client: the caller aborts a request: it rejects with AbortError, not with a problem', async () => {
  const abort = new AbortController();
  abort.abort();
  const client = createClient({
    fetch: (input, init) => fetch(new URL(String(input), 'http://127.0.0.1:9'), init),
  });
  await expect(client.fleet(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
});
