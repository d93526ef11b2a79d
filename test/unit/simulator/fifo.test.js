import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Fifo } from '../../../simulator/fifo.js';

test('Fifo: any operations: the same as an array', () => {
  const step = fc.oneof(
    fc.constant('push'),
    fc.constant('shift'),
    fc.constant('shift'),
    fc.constant('putBack'),
  );
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.array(step, { maxLength: 3000 }), (filled, steps) => {
      const fifo = new Fifo();
      /** @type {number[]} */
      const model = [];
      let next = 0;
      for (; next < filled; next += 1) {
        fifo.push(next);
        model.push(next);
      }
      for (const what of steps) {
        next += 1;
        if (what === 'push') {
          fifo.push(next);
          model.push(next);
        } else {
          expect(fifo.shift()).toBe(model.shift());
        }
        expect(fifo.length).toBe(model.length);
      }
    }),
    { numRuns: 30 },
  );
});
