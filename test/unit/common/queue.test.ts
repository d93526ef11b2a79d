import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Queue } from '../../../common/queue.ts';

test('Queue: random pushes, shifts and removals: size, first item and order equal those of an array', () => {
  const step = fc.oneof(
    fc.constant({ kind: 'push', at: 0 }),
    fc.constant({ kind: 'shift', at: 0 }),
    fc.record({ kind: fc.constant('leave'), at: fc.nat(30) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new Queue();
      let model: number[] = [];
      const leaves: Array<() => void> = [];
      for (const { kind, at } of steps) {
        if (kind === 'push') {
          model.push(leaves.length);
          leaves.push(queue.push(leaves.length));
        } else if (kind === 'shift') {
          expect(queue.shift()).toBe(model.shift());
        } else {
          // The item may have been removed before, or may never have existed.
          leaves[at]?.();
          model = model.filter((value) => value !== at);
        }
        expect(queue.size).toBe(model.length);
        expect(queue.first).toBe(model[0]);
      }
      const rest = [];
      while (queue.size > 0) rest.push(queue.shift());
      expect(rest).toEqual(model);
    }),
  );
});
