import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { forEachConcurrently } from '../../../common/concurrency.js';

/** @param {number} count */
const numbers = (count) => Array.from({ length: count }, (_, at) => at);

test('forEachConcurrently: 100 items, limit 4: each item runs once, in order, at most four at a time', async () => {
  /** @type {number[]} */
  const begun = [];
  let underWay = 0;
  let most = 0;
  await forEachConcurrently(4, numbers(100), async (item) => {
    begun.push(item);
    most = Math.max(most, ++underWay);
    await turn();
    underWay--;
  });
  expect(begun).toEqual(numbers(100));
  expect(most).toBe(4);
  expect(underWay).toBe(0);
});

test('forEachConcurrently: the work for one item fails: no further item starts, and the promise rejects after running items end', async () => {
  let begun = 0;
  let ended = 0;
  const work = forEachConcurrently(4, numbers(100), async (item) => {
    begun++;
    await turn();
    if (item === 1) throw new Error('no');
    await turn();
    ended++;
  });
  await expect(work).rejects.toThrow('no');
  expect(begun).toBeLessThan(10);
  expect(ended).toBe(begun - 1);
});
