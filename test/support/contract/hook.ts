import { afterAll, afterEach } from '@jest/globals';
import { settleWatch, watchAnswer } from './watch.ts';

/**
 * Checks every answer that a test gets by `fetch` against the contract. `send`, streams and browsers of `test/support` report
 * their answers themselves. A test fails for an answer that is not described, even if the test does not check it.
 */
const plainFetch = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const { pathname, search } = new URL(response.url);
  // Alertmanager answers this path, not Millrace.
  if (pathname.startsWith('/api/v2/')) return response;
  // Only JSON is read here. Other answers may be endless, or belong to a test that reads them slowly on purpose.
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
