import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Store, stampOf } from '../../../api/store/index.ts';
import { uuidBytes, uuidText } from '../../../schema/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import type { ContractSubject } from './cells.ts';

const HOUR = Date.UTC(2026, 4, 1, 5);

const newId = () => uuidBytes(randomUUID());

/** A group that no other test uses. */
const newGroup = () => 1000 + Math.floor(Math.random() * 1e9);

async function allOf<T>(
  read: (after: string | undefined) => Promise<{ items: T[]; next: string | undefined }>,
) {
  const items = [];
  let after: string | undefined;
  do {
    const page = await read(after);
    items.push(...page.items);
    after = page.next;
  } while (after && items.length < 1000);
  return items;
}

/** Tests the data that packing uses: progress, leases, late days, devices and their sensors. */
export function describePacking(subject: () => ContractSubject) {
  let store: Store;
  beforeAll(() => {
    store = subject().store;
  });

  describe('progress of packing', () => {
    test('Store: packing progress of a new group: starts at a full hour; packing of settled days starts two days earlier', async () => {
      const { packedUntil, settledUntil, noticedUntil } = await store.packProgress.read(newGroup());
      expect(packedUntil % HOUR_MS).toBe(0);
      expect(noticedUntil).toBe(packedUntil);
      expect(settledUntil).toBe(packedUntil - 2 * DAY_MS);
    });

    test('Store: packing progress is written: an earlier hour changes nothing; packed, settled and noticed hours are independent', async () => {
      const group = newGroup();
      const before = await store.packProgress.read(group);
      const until = before.packedUntil + 5 * HOUR_MS;
      await store.packProgress.writePacked(group, until);
      await store.packProgress.writePacked(group, until - HOUR_MS);
      expect(await store.packProgress.read(group)).toEqual({ ...before, packedUntil: until });
      await store.packProgress.writeSettled(group, until + DAY_MS);
      await store.packProgress.writeNoticed(group, until + HOUR_MS);
      expect(await store.packProgress.read(group)).toEqual({
        packedUntil: until,
        settledUntil: until + DAY_MS,
        noticedUntil: until + HOUR_MS,
      });
    });
  });

  describe('leases', () => {
    test('Store: a group of devices has a lease: only the owner of the lease can take, renew and release it', async () => {
      const { packLeases } = store;
      const group = newGroup();
      expect(await packLeases.renew(group, 'first')).toBe(false);
      expect(await packLeases.take(group, 'first')).toBe(true);
      expect(await packLeases.take(group, 'second')).toBe(false);
      expect(await packLeases.take(group, 'first')).toBe(true);
      expect(await packLeases.renew(group, 'second')).toBe(false);
      expect(await packLeases.renew(group, 'first')).toBe(true);
      await packLeases.release(group, 'second');
      expect(await packLeases.take(group, 'second')).toBe(false);
      await packLeases.release(group, 'first');
      expect(await packLeases.take(group, 'second')).toBe(true);
    });

    test('Store: the lease of a group has expired: another owner takes the lease, and the first owner cannot renew it', async () => {
      const { packLeases } = store;
      const group = newGroup();
      await subject().database.execute(
        'INSERT INTO pack_lease (grp, owner) VALUES (?, ?) IF NOT EXISTS USING TTL 1',
        [group, 'first'],
        { prepare: true },
      );
      await subject().afterTwoSeconds(async () => await packLeases.take(group, 'second'));
      expect(await packLeases.take(group, 'second')).toBe(true);
      expect(await packLeases.renew(group, 'first')).toBe(false);
    });
  });

  describe('late days', () => {
    test('Store: 300 days with late samples are recorded twice: each day is read once, under the hour of the record', async () => {
      const group = newGroup();
      const device = newId();
      const days = Array.from({ length: 300 }, (_, i) => ({ device, day: i * DAY_MS }));
      for (let times = 0; times < 2; times++) await store.write.lateDays.write(group, HOUR, days);
      const found = await allOf((after) => store.packing.lateDayPage(group, HOUR, after));
      expect(found).toEqual(days.map((day) => ({ ...day, corrected: false })));
      expect((await store.packing.lateDayPage(group, HOUR + HOUR_MS)).items).toEqual([]);
    });

    test('Store: a day with late samples was also corrected: it is recorded once, as corrected', async () => {
      const group = newGroup();
      const day = { device: newId(), day: DAY_MS };
      await store.write.lateDays.writeCorrected(group, HOUR, [day]);
      await store.write.lateDays.write(group, HOUR, [day]);
      const { items } = await store.packing.lateDayPage(group, HOUR);
      expect(items).toEqual([{ ...day, corrected: true }]);
    });
  });

  describe('devices and sensors', () => {
    test('Store: 150 registered devices of a group, and two sensors: all are read, page by page', async () => {
      const group = newGroup();
      const devices = Array.from({ length: 150 }, newId);
      for (const bytes of devices)
        await store.write.registry.writeDevice({ group, bytes }, { name: 'x', registeredAt: 5 }, stampOf(1));
      const found = await allOf((after) => store.packing.devicePage(group, after));
      expect(found.map(uuidText)).toEqual(devices.map(uuidText).sort());

      const [bytes] = devices as [Buffer];
      const sensors = [newId(), newId()];
      const changes = sensors.map((sensor) => ({
        bytes: sensor,
        name: 'temperature',
        registeredAt: 5,
        writeTimestamp: stampOf(1),
      }));
      const { indexes, sensors: rows } = store.write.registry.sensorWrites({ group, bytes }, changes, 5);
      for (const write of [...indexes, ...rows]) await store.write.registry.commit(write);
      const ids = await store.packing.sensorIds(group, bytes);
      expect(ids.map(uuidText).sort()).toEqual(sensors.map(uuidText).sort());
      expect(await store.devices.device({ group, bytes })).toMatchObject({
        name: 'x',
        registeredAt: 5,
        retiredAt: null,
      });
      expect(await store.devices.device({ group: group + 1, bytes })).toBeNull();
    });

    test('Store: refused message: its dead letter is stored once, with the payload and the error codes', async () => {
      const receivedAt = HOUR + 5;
      const topic = `iot/x/${randomUUID()}/measurements`;
      const payload = Buffer.from('{"value":"x"}');
      const refused = [{ index: 0, code: 'not_numeric' as const }];
      const content = { contentType: 'application/json', payload, refused };
      await store.deadLetters.write({ receivedAt, device: 'x', topic, codes: { not_numeric: 1 }, content });
      const rows = [];
      for (let shard = 0; shard < 16; shard++) {
        const { rows: some } = await subject().database.execute(
          'SELECT topic, payload, codes FROM dead_letter WHERE hour = ? AND shard = ?',
          [new Date(HOUR), shard],
          { prepare: true },
        );
        rows.push(...some.filter((row) => row['topic'] === topic));
      }
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ payload, codes: { not_numeric: 1 } });
    });
  });
}
