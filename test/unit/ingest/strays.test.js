import { expect, test } from '@jest/globals';
import { createStrays } from '../../../api/ingest/awaiting-registration.js';

const MINUTE_MS = 60_000;

/** @param {number} bytes */
const messageOf = (bytes) => ({
  topic: 'iot/v1/d/measurements',
  payload: Buffer.alloc(bytes),
  retained: false,
  receivedAt: 0,
});

test('messages are remembered for a minute, and what is old is forgotten when another comes', () => {
  let now = 0;
  const strays = createStrays({ clock: () => now });
  const first = messageOf(1);
  strays.remember('d', first);
  strays.remember('other', messageOf(1));
  now = MINUTE_MS;
  expect(strays.take('d')).toEqual([first]);
  expect(strays.take('d')).toEqual([]);
  expect(strays.size).toBe(1);

  now = MINUTE_MS + 1;
  // Too large to be remembered itself, it is a reason to forget all the same.
  strays.remember('third', messageOf(20_000));
  expect(strays.size).toBe(0);
});

test('of more than a thousand the oldest are forgotten', () => {
  const strays = createStrays({ clock: () => 0 });
  for (let at = 0; at < 1001; at++) strays.remember(`d${at}`, messageOf(at));
  expect(strays.size).toBe(1000);
  expect(strays.take('d0')).toEqual([]);
  expect(strays.take('d1')).toHaveLength(1);
});
