import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Acknowledgements, ClientDeliveries, Pubacks } from '../../../api/mqtt/acknowledgements.ts';

test('MQTT acknowledgements: messages are settled in random order: each is acknowledged once, in order of arrival', () => {
  const order = fc
    .integer({ min: 1, max: 50 })
    .chain((count) =>
      fc.shuffledSubarray([...Array(count).keys()], { minLength: count }).map((settling) => settling),
    );
  fc.assert(
    fc.property(order, (settling) => {
      const acknowledgements = new Acknowledgements();
      const given: number[] = [];
      const settled = settling.map((_, i) => acknowledgements.track(() => given.push(i)));
      const done = new Set();
      for (const i of settling) {
        settled[i]?.();
        done.add(i);
        // Exactly the messages without an unsettled predecessor are acknowledged.
        let ready = 0;
        while (done.has(ready)) ready++;
        expect(given).toEqual([...Array(ready).keys()]);
      }
      expect(acknowledgements.pending).toBe(0);
    }),
  );
});

test('MQTT acknowledgements: the connection closes before messages are settled: nothing is acknowledged', () => {
  const acknowledgements = new Acknowledgements();
  let given = 0;
  const settled = [acknowledgements.track(() => given++), acknowledgements.track(() => given++)];
  acknowledgements.drop();
  for (const settle of settled) settle();
  expect(given).toBe(0);
});

test('PUBACK packets: several in one turn of the event loop: sent with one write, in order', async () => {
  const stream = new PassThrough();
  const pubacks = new Pubacks(stream);
  for (const id of [1, 0x102]) pubacks.send(id);
  await nextTurn();
  expect(stream.read()).toEqual(Buffer.from([0x40, 2, 0, 1, 0x40, 2, 1, 2]));
});

test('Deliveries: a message comes again on a later connection: it has the same receipt, unless its content differs', () => {
  const clients = new ClientDeliveries();
  const [first, second] = [new AbortController(), new AbortController()];
  clients.open('c', first.signal);
  const shared = clients.open('c', second.signal);
  first.abort();
  expect(clients.open('c', AbortSignal.abort())).toBe(shared);
  const message = { qos: 2, messageId: 1, dup: true, topic: 't', payload: Buffer.from('a') };
  const receipt = shared.receive({ ...message, dup: false });
  second.abort();
  const later = clients.open('c', new AbortController().signal);
  expect(later.receive(message)).toBe(receipt);
  const other = later.receive({ ...message, payload: Buffer.from('b') });
  expect(other).not.toBe(receipt);
  expect(later.receive({ ...message, payload: Buffer.from('b'), dup: false })).not.toBe(other);
});
