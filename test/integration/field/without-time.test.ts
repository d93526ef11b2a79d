import { expect, test } from '@jest/globals';
import { useDevice, useTestSystem } from '../../support/system/use.ts';

const system = useTestSystem();
const client = useDevice(system);
const other = useDevice(system);

async function valuesOf(device: string, sensor: string = 't'): Promise<number[]> {
  const items = await system.all(`/devices/${device}/sensors/${sensor}/measurements?limit=1000&order=asc`);
  return items.map(({ value }) => value);
}

const post = async (device: string, elements: object[]): Promise<Record<string, unknown>> =>
  (await system.post(`/measurements?device=${device}`, elements)).json();

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

test('Values without a time: thingsboard#8195: burst of 1,000 messages: every value is stored, in order', async () => {
  await Promise.all(
    numbers(1000).map((value) => client.send('burst', 'measurements', { sensor_id: 't', value })),
  );
  expect(await valuesOf('burst')).toEqual(numbers(1000));
});

test('Values without a time: two connections send for one sensor: every acknowledged value is stored', async () => {
  await Promise.all(
    [client, other].flatMap((each, index) =>
      numbers(300).map((value) => each.send('two', 'measurements', { t: value * 2 + index })),
    ),
  );
  expect((await valuesOf('two')).sort((a, b) => a - b)).toEqual(numbers(600));
});

test('Values with equal times: influxdb#4150, thingsboard#5714: three values in one HTTP post: the greatest is stored, and accepted is 1', async () => {
  const ts = Date.now();
  const { accepted } = await post(
    'same',
    [1, 3, 2].map((value) => ({ sensor_id: 't', ts, value })),
  );
  expect([accepted, await valuesOf('same')]).toEqual([1, [3]]);
});
