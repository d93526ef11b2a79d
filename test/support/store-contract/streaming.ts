import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Store, stampOf } from '../../../api/store/index.ts';
import { uuidBytes, uuidText } from '../../../schema/ids.ts';
import { HOUR_MS, SENSORS_PER_PART } from '../../../schema/rules.ts';
import type { ContractSubject } from './cells.ts';

const HOUR = Date.UTC(2026, 4, 1, 5);

const newId = () => uuidBytes(randomUUID());

/** A group that no other test uses. */
const newGroup = () => 1000 + Math.floor(Math.random() * 1e9);

/** Tests what streaming out reads and writes. */
export function describeStreaming(subject: () => ContractSubject) {
  let store: Store;
  beforeAll(() => {
    store = subject().store;
  });

  describe('streaming out', () => {
    test('Store: rows of an hour in two partitions: each row has a digest; rows before an instant can be omitted', async () => {
      const device = newId();
      const size = SENSORS_PER_PART + 1;
      const sensors = Array.from({ length: size }, newId);
      const at = async (ts: number) => {
        const samples = sensors.map((sensor) => ({ sensor, times: [ts], values: [1] }));
        await store.write.samples({ bytes: device, sensors: { size } }, samples);
      };
      await at(HOUR + 1);
      await at(HOUR + 2);
      const { streaming } = store;
      expect(await streaming.parts(device, HOUR)).toEqual([0, 1, 2]);
      const read = async (part: number, since = HOUR) =>
        (await streaming.blockPage(device, HOUR, part, { since })).items;
      const blocks = [...(await read(0)), ...(await read(1)), ...(await read(2))];
      expect(blocks.map(({ part, ts }) => [part, ts])).toEqual([
        [1, HOUR + 2],
        [1, HOUR + 1],
        [2, HOUR + 2],
        [2, HOUR + 1],
      ]);
      expect((await read(1, HOUR + 2)).map(({ ts }) => ts)).toEqual([HOUR + 2]);
      expect(await streaming.digests(device, HOUR)).toEqual(
        new Set(blocks.map(({ digest }) => digest.toString('hex'))),
      );
    });

    test('Store: notes of rows that Kafka has: reading an hour returns the digests of all its notes', async () => {
      const device = newId();
      const digests = Array.from({ length: 3 }, () => randomBytes(8));
      const [first, ...others] = digests as [Buffer, ...Buffer[]];
      expect(await store.streaming.notes(device, HOUR)).toEqual(new Set());
      for (const some of [first, Buffer.concat(others), first])
        await store.streaming.writeNote(device, HOUR, some);
      expect(await store.streaming.notes(device, HOUR)).toEqual(
        new Set(digests.map((digest) => digest.toString('hex'))),
      );
    });

    test('Store: streaming progress of a group and its Kafka topics: an earlier instant does not replace a later one', async () => {
      const group = newGroup();
      const { streaming } = store;
      expect(await streaming.streamedUntil(group)).toBeNull();
      expect(await streaming.topicsUntil(group)).toEqual(new Map());
      for (const until of [HOUR + HOUR_MS, HOUR]) {
        await streaming.writeStreamed(group, until);
        await streaming.writeTopic(group, 'events', until);
      }
      expect(await streaming.streamedUntil(group)).toBe(HOUR + HOUR_MS);
      expect(await streaming.topicsUntil(group)).toEqual(new Map([['events', HOUR + HOUR_MS]]));
    });

    test('Store: devices of a group: all are read in order, or only those from a given device on', async () => {
      const group = newGroup();
      const ids = Array.from({ length: 3 }, newId).sort((a, b) => (uuidText(a) < uuidText(b) ? -1 : 1));
      for (const bytes of ids)
        await store.write.registry.writeDevice({ group, bytes }, { name: 'x', registeredAt: 5 }, stampOf(1));
      const from = async (first: Buffer | null) =>
        (await store.streaming.devicePage(group, first)).items.map(uuidText);
      expect(await from(null)).toEqual(ids.map(uuidText));
      expect(await from(ids[1] as Buffer)).toEqual(ids.slice(1).map(uuidText));
    });

    test('Store: late arrivals of an hour: all are read by device and hour, or only those from a given arrival on', async () => {
      const group = newGroup();
      const device = newId();
      const arrivals = [1, 2].map((hours) => ({ device, bucket: HOUR + hours * HOUR_MS, since: HOUR }));
      for (const arrival of arrivals.toReversed()) await store.write.lateArrivals.write(group, HOUR, arrival);
      const { lateArrivalPage } = store.streaming;
      expect((await lateArrivalPage(group, HOUR)).items).toEqual(arrivals);
      expect((await lateArrivalPage(group, HOUR, undefined, arrivals[1])).items).toEqual(arrivals.slice(1));
      expect((await lateArrivalPage(group, HOUR + HOUR_MS)).items).toEqual([]);
    });

    test('Store: outbox for Kafka: the same entry is written twice: reading its hour and kind returns the entry once', async () => {
      const group = newGroup();
      const entry = { kind: 'event', id: 'pump.5.birth' };
      for (let times = 0; times < 2; times++) await store.write.outbox.write(group, HOUR, entry);
      await store.write.outbox.write(group, HOUR, { kind: 'dead_letter', id: 'a' });
      expect((await store.streaming.outboxPage(group, HOUR, 'event')).items).toEqual([entry]);
      expect((await store.streaming.outboxPage(group, HOUR + HOUR_MS, 'event')).items).toEqual([]);
    });

    test('Store: device event: found by device, session, time and kind; not found by another kind', async () => {
      const device = newId();
      const event = { session: HOUR, kind: 'online' as const, ts: HOUR + 5, clockOffset: -7 };
      await store.write.events.write(device, event);
      expect(await store.events.find(device, event)).toEqual(event);
      expect(await store.events.find(device, { ...event, kind: 'birth' })).toBeNull();
    });
  });
}
