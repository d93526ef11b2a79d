import { expect, test } from '@jest/globals';
import { machineShares, parseMachineTime } from '../../../../tools/bench/measure/machine.ts';

test('Bench machine: steal and CPU time of other programs are shares of the total time', () => {
  const before = parseMachineTime('cpu  100 0 50 1000 10 0 5 20 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n');
  const after = parseMachineTime('cpu  160 10 70 1060 20 5 10 50 60 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n');
  expect(before).toEqual({ all: 1185, idle: 1010, stolen: 20 });
  // In 1/100 s: 200 in all, of which 30 are stolen, 70 idle and 100 used. The bench itself used 60.
  expect(machineShares(before, after, 0.6)).toEqual({ steal: 0.15, others: 0.2 });
});
