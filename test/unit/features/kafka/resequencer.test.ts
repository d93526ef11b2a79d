import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Resequencer } from '../../../../api/features/kafka/resequencer.ts';

type Device = Parameters<Resequencer['expect']>[0];

const rowsOf = (text: string) => [{ query: text, params: [] }];

function createOrder({ accepts = () => true }: { accepts?: (rows: { query: string }[]) => boolean } = {}) {
  const released: string[] = [];
  const order = new Resequencer({
    accepts,
    release: (device, bucket, [row]) => released.push(`${device.id} ${bucket} ${row?.query}`),
  });
  return { order, released };
}

const a = { id: 'a' } as unknown as Device;

test('Kafka resequencer: the device cache was renewed between two blocks: the later block still waits for the earlier one', () => {
  const { order, released } = createOrder();
  const [first, second] = [order.expect(a), order.expect({ ...a })];
  order.settle(second, 10, rowsOf('second'));
  expect(released).toEqual([]);
  order.settle(first, 10, rowsOf('first'));
  expect(released).toEqual(['a 10 first', 'a 10 second']);
  expect(order.devices).toBe(0);
});

test('Kafka resequencer: the commit of the earlier block fails: the later block is released', () => {
  const { order, released } = createOrder();
  const [first, second] = [order.expect(a), order.expect(a)];
  order.settle(second, 10, rowsOf('second'));
  order.settle(first, 10, []);
  expect(released).toEqual(['a 10 second']);
});

test('Kafka resequencer: one of three blocks does not fit in memory: the two other blocks keep their order', () => {
  const { order, released } = createOrder({ accepts: ([row]) => row?.query !== '1' });
  const places = [0, 1, 2].map(() => order.expect(a));
  for (const index of [2, 1, 0]) order.settle(places[index] as never, 10, rowsOf(String(index)));
  expect(released).toEqual(['a 10 0', 'a 10 2']);
});

test('Kafka resequencer: random order of commits: blocks are released in order of arrival, and no device is kept in memory', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 8 }), (commits) => {
      const { order, released } = createOrder();
      const places = commits.map(() => order.expect(a));
      for (const index of commits) order.settle(places[index] as never, 0, rowsOf(String(index)));
      expect(released).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((index) => `a 0 ${index}`));
      expect(order.devices).toBe(0);
    }),
  );
});
