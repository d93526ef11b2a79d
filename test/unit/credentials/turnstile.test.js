import { describe, expect, test } from '@jest/globals';
import { createTurnstile } from '../../../api/credentials/turnstile.js';

/** Lets every promise go on that can. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Work that lasts until it is told to end. @param {number} limit @param {number} count how much is begun at once */
function begin(limit, count) {
  const turnstile = createTurnstile(limit);
  /** @type {Array<{ name: number, end: (error?: Error) => void }>} in the order in which it began */
  const started = [];
  /** @param {number} name */
  const pass = (name) =>
    turnstile.pass(
      () =>
        new Promise((resolve, reject) => {
          started.push({ name, end: (error) => (error ? reject(error) : resolve(`result ${name}`)) });
        }),
    );
  const results = Array.from({ length: count }, (_, name) => pass(name));
  for (const result of results) result.catch(() => {});
  return { pass, results, started, names: () => started.map(({ name }) => name) };
}

describe('Concurrency limit', () => {
  test.each([1, 2, 64])('%i: as many run at once, the others wait in their order', async (limit) => {
    const { started, names, results } = begin(limit, limit + 3);
    await settle();
    const first = Array.from({ length: limit }, (_, name) => name);
    expect(names()).toEqual(first);
    for (const more of [0, 1, 2]) {
      started[more]?.end();
      await settle();
      expect(names()).toEqual([...first, ...[limit, limit + 1, limit + 2].slice(0, more + 1)]);
    }
    for (const { end } of started) end();
    expect(await Promise.all(results)).toEqual(results.map((_, name) => `result ${name}`));
  });

  test('work fails: its caller gets the error, and its place is free', async () => {
    const { started, names, results } = begin(1, 2);
    await settle();
    started[0]?.end(new Error('no database'));
    await expect(results[0]).rejects.toThrow('no database');
    await settle();
    expect(names()).toEqual([0, 1]);
    started[1]?.end();
    expect(await results[1]).toBe('result 1');
  });

  test('all work is done: as many run at once as before', async () => {
    const { pass, started, names } = begin(2, 3);
    for (let ended = 0; ended < 3; ended++) {
      await settle();
      started[ended]?.end();
    }
    await settle();
    for (const name of [3, 4, 5]) void pass(name);
    await settle();
    expect(names()).toEqual([0, 1, 2, 3, 4]);
    started[3]?.end();
    await settle();
    expect(names()).toEqual([0, 1, 2, 3, 4, 5]);
  });
});
