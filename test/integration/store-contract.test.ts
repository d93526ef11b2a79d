import { expect, test } from '@jest/globals';
import { int64 } from '../../api/store/cql-encoding.ts';
import { bucketOf } from '../../schema/rules.ts';
import { deliveryOf, describeAlarmDeliveries } from '../support/store-contract/alarm-deliveries.ts';
import { describeCells } from '../support/store-contract/cells.ts';
import { describePacking } from '../support/store-contract/packing.ts';
import { describeSamples } from '../support/store-contract/samples.ts';
import { describeStreaming } from '../support/store-contract/streaming.ts';
import { describeWatchedTime } from '../support/store-contract/watched-time.ts';
import { useStoredSystem } from '../support/system/stored.ts';
import { until } from '../support/until.ts';

const stored = useStoredSystem({});

const subject = () => ({
  store: stored.store(),
  database: stored.database(),
  afterTwoSeconds: async (isExpired: () => Promise<boolean>) => {
    await until(isExpired, { what: 'expiry' });
  },
});

describeAlarmDeliveries(subject);
describeCells(subject);
describeSamples(subject);
describePacking(subject);
describeStreaming(subject);
describeWatchedTime(subject);

test('Store: 2,000 deliveries of alarms were finished in an hour: a reader of the hour passes two tombstones', async () => {
  const { deliveries } = stored.store().alarms;
  const now = Date.now();
  const hour = bucketOf(now);
  const range = { from: hour, to: hour + 1 };
  const read = async () => {
    const { info } = await stored
      .database()
      .execute('SELECT * FROM alarm_delivery WHERE hour = ?', [int64(hour)], {
        prepare: true,
        traceQuery: true,
      });
    const { events } = await stored.database().metadata.getTrace(info.traceId);
    const counts = events.map(({ activity }) =>
      /Read (\d+) live rows and (\d+) tombstone/.exec(activity ?? ''),
    );
    const [, live, tombstones] = counts.find(Boolean) ?? [];
    return { live: Number(live), tombstones: Number(tombstones) };
  };
  for (let round = 0; round < 4; round++) {
    const some = Array.from({ length: 500 }, (_, n) => deliveryOf(`${round}-${n}`, hour));
    await Promise.all(some.map((delivery) => deliveries.write(delivery, now)));
    await Promise.all(some.map((delivery) => deliveries.finish(delivery, now)));
    expect((await read()).tombstones).toBeLessThanOrEqual(2);
    const before = Date.now() + 1;
    await deliveries.removeFinished(range, before);
    await until(() => Date.now() > before);
  }
  expect(await read()).toEqual({ live: 0, tombstones: 2 });
});
