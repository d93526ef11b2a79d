import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { uuidBytes } from '../../../schema/ids.ts';
import type { ContractSubject } from './cells.ts';

const HOUR = Date.UTC(2026, 4, 1, 5);

export function describeEvents(subject: () => ContractSubject) {
  test('Store: device event: found by device, session, time and kind; not found by another kind', async () => {
    const { store } = subject();
    const device = uuidBytes(randomUUID());
    const event = { session: HOUR, kind: 'online' as const, ts: HOUR + 5, clockOffset: -7 };
    await store.write.events.write(device, event);
    expect(await store.events.find(device, event)).toEqual(event);
    expect(await store.events.find(device, { ...event, kind: 'birth' })).toBeNull();
  });
}
