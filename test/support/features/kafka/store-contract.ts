import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { createStreamStore, type StreamStore } from '../../../../api/features/kafka/store.ts';
import type { Store } from '../../../../api/store/index.ts';
import { uuidBytes } from '../../../../schema/ids.ts';
import { HOUR_MS, SENSORS_PER_PART } from '../../../../schema/rules.ts';

const HOUR = Date.UTC(2026, 4, 1, 5);

const newId = () => uuidBytes(randomUUID());

/** A group that no other test uses. */
const newGroup = () => 1000 + Math.floor(Math.random() * 1e9);

export function describeStreaming(subject: () => Store) {
  let store: Store;
  let streaming: StreamStore;
  beforeAll(() => {
    store = subject();
    streaming = createStreamStore(store.session);
  });

  test('Store: digests of an hour: those of the blocks of all parts', async () => {
    const device = newId();
    const size = SENSORS_PER_PART + 1;
    const samples = Array.from({ length: size }, () => ({ sensor: newId(), times: [HOUR], values: [1] }));
    await store.write.samples({ bytes: device, sensors: { size } }, samples);
    const pages = await Promise.all([0, 1, 2].map((part) => streaming.blockPage(device, HOUR, part)));
    const blocks = pages.flatMap(({ items }) => items);
    expect(blocks).toHaveLength(2);
    expect(await streaming.digests(device, HOUR)).toEqual(
      new Set(blocks.map(({ digest }) => digest.toString('hex'))),
    );
  });

  test('Store: notes of rows that Kafka has: reading an hour returns the digests of all its notes', async () => {
    const device = newId();
    const digests = Array.from({ length: 3 }, () => randomBytes(8));
    const [first, ...others] = digests as [Buffer, ...Buffer[]];
    expect(await streaming.notes(device, HOUR)).toEqual(new Set());
    for (const some of [first, Buffer.concat(others), first]) await streaming.writeNote(device, HOUR, some);
    expect(await streaming.notes(device, HOUR)).toEqual(
      new Set(digests.map((digest) => digest.toString('hex'))),
    );
  });

  test('Store: streaming progress of a group and its Kafka topics: an earlier instant does not replace a later one', async () => {
    const group = newGroup();
    expect(await streaming.streamedUntil(group)).toBeNull();
    expect(await streaming.topicsUntil(group)).toEqual(new Map());
    for (const until of [HOUR + HOUR_MS, HOUR]) {
      await streaming.writeStreamed(group, until);
      await streaming.writeTopic(group, 'events', until);
    }
    expect(await streaming.streamedUntil(group)).toBe(HOUR + HOUR_MS);
    expect(await streaming.topicsUntil(group)).toEqual(new Map([['events', HOUR + HOUR_MS]]));
  });

  test('Store: outbox for Kafka: the same entry is written twice: reading its hour and kind returns the entry once', async () => {
    const group = newGroup();
    const entry = { kind: 'event', id: 'pump.5.birth' };
    for (let times = 0; times < 2; times++) await store.write.outbox.write(group, HOUR, entry);
    await store.write.outbox.write(group, HOUR, { kind: 'dead_letter', id: 'a' });
    expect((await streaming.outboxPage(group, HOUR, 'event')).items).toEqual([entry]);
    expect((await streaming.outboxPage(group, HOUR + HOUR_MS, 'event')).items).toEqual([]);
  });
}
