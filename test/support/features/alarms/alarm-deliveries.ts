import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createAlarmDeliveryStore, type Delivery } from '../../../../api/features/alarms/store/deliveries.ts';
import { int64 } from '../../../../api/store/cql-values.ts';
import { bucketOf, HOUR_MS } from '../../../../schema/rules.ts';
import type { ContractSubject } from '../../store-contract/cells.ts';

const KEY = { device: randomBytes(16), sensor: randomBytes(16), rule: randomBytes(16), start: 0 };
const RAW = 'SELECT id FROM alarm_delivery WHERE hour = ?';

export const deliveryOf = (id: string, begunAt: number): Delivery => ({
  id,
  key: KEY,
  target: 'webhook',
  event: 'opened',
  begunAt,
  attempts: 0,
  nextAt: begunAt,
  failedAt: null,
  error: null,
});

export function describeAlarmDeliveries(subject: () => Pick<ContractSubject, 'store' | 'database'>) {
  const deliveries = () => createAlarmDeliveryStore(subject().store.session);
  const stored = async (hour: number) =>
    (await subject().database.execute(RAW, [int64(hour)], { prepare: true })).rows.map((row) => row['id']);

  describe('deliveries of alarms', () => {
    test('Store: deliveries are finished between unfinished ones: only old finished rows are removed', async () => {
      const now = Date.now();
      const hour = bucketOf(now) - 20 * HOUR_MS;
      const range = { from: hour, to: hour + HOUR_MS };
      const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((id, index) => deliveryOf(id, hour + index));
      for (const delivery of all) await deliveries().write(delivery, now);
      for (const delivery of all) if (!'cf'.includes(delivery.id)) await deliveries().finish(delivery, now);
      const open = async () => (await deliveries().begunIn(range)).map(({ id }) => id);
      expect(await open()).toEqual(['c', 'f']);
      // The rows were written later than this time.
      await deliveries().removeFinished(range, now - 60_000);
      expect(await stored(hour)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
      await deliveries().removeFinished(range, Date.now() + 60_000);
      expect(await stored(hour)).toEqual(['c', 'f']);
      expect(await open()).toEqual(['c', 'f']);
    });

    test('Store: a finished delivery begins again: it is unfinished, and keeps its new attempt', async () => {
      const now = Date.now();
      const hour = bucketOf(now) - 21 * HOUR_MS;
      const delivery = deliveryOf('again', hour);
      await deliveries().write(delivery, now);
      await deliveries().finish(delivery, now);
      await deliveries().write({ ...delivery, attempts: 3 }, now);
      await deliveries().removeFinished({ from: hour, to: hour + 1 }, Date.now() + 60_000);
      expect(await deliveries().begunIn({ from: hour, to: hour + 1 })).toEqual([
        { ...delivery, attempts: 3 },
      ]);
    });
  });
}
