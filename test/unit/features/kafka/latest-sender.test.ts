import { expect, test } from '@jest/globals';
import { LatestSender } from '../../../../api/features/kafka/latest-sender.ts';

type Device = Parameters<LatestSender['note']>[0];
type Sensor = Parameters<LatestSender['note']>[1][number];

const device = { id: 'd', name: 'd' } as Device;
const sensorOf = (value: number) => ({ id: 's', ts: 1, value }) as Sensor;

function createLatest({ failingForMs = 0 }: { failingForMs?: number } = {}) {
  const sent: string[] = [];
  const latest = new LatestSender({
    sender: {
      failingForMs,
      async send(records: Array<{ value: Buffer }>) {
        sent.push(...records.map(({ value }) => String(value)));
        return true;
      },
      stop: async () => {},
    } as never,
    prepare: async (signal) => !signal.aborted,
    records: {
      ofLatest: ({ value }: { value: number }) => ({ value: Buffer.from(String(value)) }),
      ofRemoved: () => ({ value: undefined }),
    } as never,
  });
  return { latest, sent };
}

test('Kafka sender of latest values: stopped before the next request: the newest value of a sensor is still sent', async () => {
  const { latest, sent } = createLatest();
  latest.start();
  latest.note(device, [sensorOf(1)]);
  latest.note(device, [sensorOf(2)]);
  await latest.stop(60_000);
  await latest.ended;
  expect(sent).toEqual(['2']);
});

// Materialize#16512, debezium PR#4995
test('Kafka sender of latest values: a device is retired: a tombstone replaces its waiting value, and a later value follows', async () => {
  const { latest, sent } = createLatest();
  const sensor = sensorOf(1);
  latest.note(device, [sensor]);
  latest.remove({
    ...device,
    sensors: new Map([
      ['s', sensor],
      ['t', { ...sensor, id: 't' }],
    ]),
  });
  latest.note(device, [{ ...sensor, id: 't', value: 2 }]);
  latest.start();
  await latest.stop(60_000);
  await latest.ended;
  expect(sent).toEqual(['undefined', '2']);
});
