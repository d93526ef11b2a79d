import { expect, test } from '@jest/globals';
import { createLimit } from '../../../../web/api/client.ts';

/** A request that the test itself answers. */
function request() {
  let begun = false;
  let answer: (answer: string) => void = () => {};
  const promise = new Promise((resolve) => {
    answer = resolve;
  });
  return {
    begun: () => begun,
    answer,
    ask: () => {
      begun = true;
      return promise;
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('Limit of parallel requests: four requests, two allowed: two wait and start in order; a failed request frees its place', async () => {
  const limit = createLimit(2);
  const requests = Array.from({ length: 4 }, request);
  const passed = requests.map(({ ask }) => limit.run(ask));
  await settle();
  expect(requests.map(({ begun }) => begun())).toEqual([true, true, false, false]);
  requests[1]?.answer('b');
  expect(await passed[1]).toBe('b');
  await settle();
  expect(requests.map(({ begun }) => begun())).toEqual([true, true, true, false]);

  const failing = limit.run(() => Promise.reject(new Error('away')));
  for (const one of requests) one.answer('x');
  await expect(failing).rejects.toThrow('away');
  expect(await limit.run(async () => 'after')).toBe('after');
});

test('Limit of parallel requests: a waiting request is aborted: it is never sent', async () => {
  const limit = createLimit(1);
  const [first, second] = [request(), request()];
  void limit.run(first.ask);
  const giving = new AbortController();
  const passed = limit.run(second.ask, giving.signal);
  giving.abort();
  first.answer('x');
  await expect(passed).rejects.toThrow(/abort/i);
  expect(second.begun()).toBe(false);
});
