import { expect, test } from '@jest/globals';
import { createAlarmDeliveryStore } from '../../../api/features/alarms/store/deliveries.ts';
import { int64 } from '../../../api/store/cql-values.ts';
import { bucketOf } from '../../../schema/rules.ts';
import { deliveryOf, describeAlarmDeliveries } from '../../support/features/alarms/alarm-deliveries.ts';
import { useStoredSystem } from '../../support/system/stored.ts';
import { until } from '../../support/until.ts';

const stored = useStoredSystem({});

describeAlarmDeliveries(() => ({ store: stored.store(), database: stored.database() }));

test('Store: 2,000 deliveries of alarms were finished in an hour: a reader of the hour passes two tombstones', async () => {
  const deliveries = createAlarmDeliveryStore(stored.store().session);
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
