import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { forEachConcurrently, JoinedCalls, SharedCalls } from '../../../common/concurrency.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

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

test('JoinedCalls: calls of one moment: share a run; calls during the run share the next; another key does not wait', async () => {
  const calls = new JoinedCalls();
  const ends: Array<(error?: Error) => void> = [];
  let begun = 0;
  const run = () => {
    const number = ++begun;
    return new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve(number))));
  };
  const call = (key = 'a') => calls.call(key, run);
  const first = [call(), call()];
  await turn();
  const second = [call(), call()];
  const other = call('b');
  await turn();
  expect(begun).toBe(2);
  ends[1]?.();
  expect(await other).toBe(2);
  ends[0]?.(new Error('no'));
  expect(await Promise.allSettled(first)).toEqual(
    Array(2).fill({ status: 'rejected', reason: new Error('no') }),
  );
  await turn();
  ends[2]?.();
  expect(await Promise.all(second)).toEqual([3, 3]);
  const later = call();
  await turn();
  ends[3]?.();
  expect(await later).toBe(4);
});

const hanging = () => new Promise(() => {});

test('JoinedCalls: a run hangs: later calls of the key share a run that begins after the limit', async () => {
  const calls = new JoinedCalls({ maxWaitMs: 20 });
  let runs = 0;
  void calls.call('a', hanging);
  await turn();
  const run = async () => ++runs;
  expect(await Promise.all([calls.call('a', run), calls.call('a', run)])).toEqual([1, 1]);
});

test.each([
  ['over the limit', 0, 2],
  ['within the limit', 60_000, 1],
])(
  'SharedCalls: a run hangs for a time %s (%i ms): a later call of the key makes %i runs',
  async (_, maxSharedMs, expected) => {
    let runs = 0;
    const shared: Array<() => boolean> = [];
    const calls = new SharedCalls(
      (_key: { id: string }, isShared) => {
        shared.push(isShared);
        return ++runs === 1 ? hanging() : Promise.resolve(runs);
      },
      { maxSharedMs },
    );
    void calls.call({ id: 'a' });
    const second = calls.call({ id: 'a' });
    expect(runs).toBe(expected);
    if (expected === 1) return;
    expect(await second).toBe(2);
    expect(shared[0]?.()).toBe(false);
  },
);
