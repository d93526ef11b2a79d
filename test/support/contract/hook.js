import { afterAll, afterEach } from '@jest/globals';
import { settleWatch, watchAnswer } from './watch.js';

/**
 * Holds every answer that a test gets by `fetch` to the contract; `send`, streams and browsers of `test/support` bring
 * theirs themselves. A test fails for an answer that is not described, even if nobody looked at it.
 */
const plainFetch = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const { pathname, search } = new URL(response.url);
  // Only JSON is read here: the rest may be endless, or was asked for to see how much of it is held.
  const isJson = /^application\/(problem\+)?json/.test(response.headers.get('content-type') ?? '');
  watchAnswer({
    method: init?.method ?? 'GET',
    path: pathname + search,
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    text: isJson ? await response.clone().text() : null,
  });
  return response;
};

afterEach(settleWatch);
afterAll(settleWatch);
