import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAcknowledgements } from '../../api/ingest/acknowledgements.js';

test('in whatever order messages are settled, acknowledgements leave in order of arrival, each once', () => {
  const order = fc
    .integer({ min: 1, max: 50 })
    .chain((count) =>
      fc.shuffledSubarray([...Array(count).keys()], { minLength: count }).map((settling) => settling),
    );
  fc.assert(
    fc.property(order, (settling) => {
      const acknowledgements = createAcknowledgements();
      /** @type {number[]} */
      const given = [];
      const settled = settling.map((_, i) => acknowledgements.track(() => given.push(i)));
      const done = new Set();
      for (const i of settling) {
        settled[i]?.();
        done.add(i);
        // All whose predecessors are settled have left, and nothing else.
        let ready = 0;
        while (done.has(ready)) ready++;
        expect(given).toEqual([...Array(ready).keys()]);
      }
      expect(acknowledgements.pending).toBe(0);
    }),
  );
});

test('nothing is acknowledged on a connection that is gone', () => {
  const acknowledgements = createAcknowledgements();
  let given = 0;
  const settled = [acknowledgements.track(() => given++), acknowledgements.track(() => given++)];
  acknowledgements.drop();
  for (const settle of settled) settle();
  expect(given).toBe(0);
});
