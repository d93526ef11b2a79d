import { expect, test } from '@jest/globals';
import { AwaitingRegistration } from '../../../api/ingest/awaiting-registration.ts';

const MINUTE_MS = 60_000;

const messageOf = (bytes: number) => ({
  topic: 'iot/v1/d/measurements',
  route: null,
  payload: Buffer.alloc(bytes),
  retained: false,
  receipt: { from: null },
  receivedAt: 0,
});

test('Messages of unregistered devices: a message waits over a minute for registration: removed at the next message', () => {
  let now = 0;
  const awaitingRegistration = new AwaitingRegistration({ clock: () => now });
  const first = messageOf(1);
  awaitingRegistration.remember('d', first);
  awaitingRegistration.remember('other', messageOf(1));
  now = MINUTE_MS;
  expect(awaitingRegistration.take('d')).toEqual([first]);
  expect(awaitingRegistration.take('d')).toEqual([]);
  expect(awaitingRegistration.size).toBe(1);

  now = MINUTE_MS + 1;
  // The large message is not remembered itself, but its arrival removes old messages.
  awaitingRegistration.remember('third', messageOf(20_000));
  expect(awaitingRegistration.size).toBe(0);
});

test('Messages of unregistered devices: more than 1,000 messages wait for registration: the oldest are removed', () => {
  const awaitingRegistration = new AwaitingRegistration({ clock: () => 0 });
  for (let at = 0; at < 1001; at++) awaitingRegistration.remember(`d${at}`, messageOf(at));
  expect(awaitingRegistration.size).toBe(1000);
  expect(awaitingRegistration.take('d0')).toEqual([]);
  expect(awaitingRegistration.take('d1')).toHaveLength(1);
});
