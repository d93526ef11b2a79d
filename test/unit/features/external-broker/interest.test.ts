import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Announcer, Interest } from '../../../../api/features/external-broker/interest.ts';
import { EVERY_DEVICE } from '../../../../api/live/messages.ts';
import { until } from '../../../support/until.ts';

const LEASE_MS = 16_000;

let now = 0;
let news = 0;
let interest: Interest;
beforeEach(() => {
  now = 1000;
  news = 0;
  interest = new Interest({ onNew: () => void news++, monotonic: () => now });
});

const announcement = (devices: string[]) => Buffer.from(JSON.stringify({ devices }));

test('Devices followed by live readers: a broker connection begins: every device counts as followed for 16 s', () => {
  expect(interest.has('a')).toBe(false);
  interest.begin();
  now += LEASE_MS - 1;
  expect(interest.has('a')).toBe(true);
  now += 1;
  expect(interest.has('a')).toBe(false);
});

test('Devices followed by live readers: random announcements: a device is followed while the newest announcement of a reader names it', () => {
  const devices = fc.subarray(['a', 'b', EVERY_DEVICE]);
  const step = fc.record({ reader: fc.constantFrom('r1', 'r2'), devices, pause: fc.nat(LEASE_MS) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      interest = new Interest({ onNew: () => void news++, monotonic: () => now });
      const model: Map<string, { devices: string[]; until: number }> = new Map();
      const followed = (device: string) =>
        [...model.values()].some(
          (lease) =>
            lease.until > now && (lease.devices.includes(device) || lease.devices.includes(EVERY_DEVICE)),
        );
      for (const { reader, devices, pause } of steps) {
        expect(interest.receive(reader, announcement(devices))).toBe(true);
        model.set(reader, { devices, until: now + LEASE_MS });
        for (const device of ['a', 'b', 'c']) expect(interest.has(device)).toBe(followed(device));
        now += pause;
        for (const device of ['a', 'b', 'c']) expect(interest.has(device)).toBe(followed(device));
      }
    }),
  );
});

test('Devices followed by live readers: first reader of a device: reported once; a repeated announcement reports nothing', () => {
  interest.receive('r1', announcement(['a']));
  interest.receive('r1', announcement(['a']));
  expect(news).toBe(1);
  interest.receive('r2', announcement(['a', 'b']));
  expect(news).toBe(2);
  interest.receive('r1', announcement([]));
  expect([news, interest.has('a')]).toEqual([2, true]);
});

test.each([
  ['invalid JSON', Buffer.from('{')],
  ['null', Buffer.from('null')],
  ['no list of devices', Buffer.from('{"devices":"a"}')],
  ['a number as a device id', Buffer.from('{"devices":[1]}')],
  ['too many devices', announcement(Array.from({ length: 1001 }, (_, index) => String(index)))],
])('Devices followed by live readers: announcement with %s: ignored', (_, payload) => {
  expect(interest.receive('r1', payload)).toBe(false);
  expect(interest.has('a')).toBe(false);
});

test('Devices followed by live readers: 1,001st reader: its announcement is ignored, those of the first 1,000 are accepted', () => {
  for (let reader = 0; reader < 1000; reader++) interest.receive(`r${reader}`, announcement([]));
  expect(interest.receive('one more', announcement(['a']))).toBe(false);
  expect(interest.receive('r7', announcement(['a']))).toBe(true);
  expect(interest.has('a')).toBe(true);
});

describe('Live announcer', () => {
  let devices: string[];
  let sent: string[][];
  let announcer: Announcer;
  beforeEach(() => {
    devices = [];
    sent = [];
    announcer = new Announcer({
      devices: () => devices,
      send: (payload) => void sent.push(JSON.parse(payload).devices),
      everyMs: 5,
    });
  });
  afterEach(() => announcer.stop());

  /** Waits until another announcer with an equal interval has announced three times. */
  async function announcedThrice() {
    let count = 0;
    const other = new Announcer({ devices: () => ['c'], send: () => void count++, everyMs: 5 });
    other.change();
    await until(() => count >= 3);
    other.stop();
  }

  test('Announcer of followed devices: two changes in one turn: one announcement, repeated until no device is followed', async () => {
    devices = ['a', 'b'];
    announcer.change();
    announcer.change();
    await until(() => sent.length >= 3);
    expect(sent[0]).toEqual(['a', 'b']);
    devices = [];
    announcer.change();
    await until(() => sent.at(-1)?.length === 0);
    // The timer may have announced the empty list before the change did.
    await announcedThrice();
    const count = sent.length;
    await announcedThrice();
    expect(sent).toHaveLength(count);
    const last = sent.findIndex((each) => each.length === 0);
    expect(sent.slice(0, last).every((each) => each.length === 2)).toBe(true);
    expect(sent.slice(last).every((each) => each.length === 0)).toBe(true);
  });

  test.each([
    ['all devices', ['a', EVERY_DEVICE]],
    ['more devices than an announcement holds', Array.from({ length: 1001 }, (_, index) => `d${index}`)],
  ])('Announcer of followed devices: readers follow %s: every device is announced', async (_, followed) => {
    devices = followed;
    announcer.change();
    await until(() => sent.length > 0);
    expect(sent[0]).toEqual([EVERY_DEVICE]);
  });
});
