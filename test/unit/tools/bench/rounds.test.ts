import { expect, test } from '@jest/globals';
import { alternate, median, medianOf } from '../../../../tools/bench/measure/rounds.ts';

const run = (steal: number, rate: number = 1) => ({ rate, steal, others: 0 });

test('Bench median: the middle value, or the mean of the two middle values', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([10, 9, 1, 2])).toBe(5.5);
  expect(median([7])).toBe(7);
  expect(median([])).toBeNaN();
});

test('Bench median: medianOf() returns the median of the ratios of each round, not the ratio of medians', () => {
  const rounds = [
    { results: { a: 100, b: 10 }, steal: 0, others: 0, repeats: 0 },
    { results: { a: 20, b: 10 }, steal: 0, others: 0, repeats: 0 },
    { results: { a: 30, b: 30 }, steal: 0, others: 0, repeats: 0 },
  ];
  expect(medianOf(rounds, ({ a, b }) => a / b)).toBe(2);
});

test('Bench rounds: variants run in turn, in reverse order in every second round', async () => {
  const order: string[] = [];
  await alternate({
    names: ['a', 'b', 'c'],
    rounds: 3,
    measure: async (name) => {
      order.push(name);
      return run(0);
    },
  });
  expect(order.join('')).toBe('abccbaabc');
});

test('Bench rounds: the host took CPU in a round: all variants of the round are measured again', async () => {
  const steals = [0.01, 0.2, 0.01, 0.01];
  let runs = 0;
  const rounds = await alternate({
    names: ['a', 'b'],
    rounds: 1,
    measure: async () => run(Number(steals[runs]), runs++),
  });
  expect(runs).toBe(4);
  expect(rounds).toEqual([
    { results: { a: run(0.01, 2), b: run(0.01, 3) }, steal: 0.01, others: 0, repeats: 1 },
  ]);
});

test('Bench rounds: the host takes CPU in each try: after two repetitions the quietest try is the result', async () => {
  const steals = [0.5, 0.3, 0.4];
  let runs = 0;
  const [round] = await alternate({
    names: ['a'],
    rounds: 1,
    measure: async () => run(Number(steals[runs]), runs++),
  });
  expect(runs).toBe(3);
  expect(round).toMatchObject({ steal: 0.3, repeats: 2, results: { a: { rate: 1 } } });
});
