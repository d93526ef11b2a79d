import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { createLeases } from '../../../api/background/leases.ts';
import type { Store } from '../../../api/store/index.ts';
import { createMemoryStore } from '../../support/memory-store/index.ts';

const clock = { now: Date.UTC(2026, 4, 5) };

let store: Store['packLeases'];
beforeEach(async () => {
  store = (await createMemoryStore({ clock: () => clock.now })).store.packLeases;
  jest.useFakeTimers({ now: clock.now });
});
afterEach(() => {
  jest.useRealTimers();
});

const leasesOf = (owner: string, parts?: Partial<typeof store>) =>
  createLeases({ store: { ...store, ...parts }, owner, logger: pino({ level: 'silent' }) });

/** Work that goes on until the test ends it. */
function endless() {
  let end: () => void = () => {};
  const work = () =>
    new Promise((resolve) => {
      end = () => resolve(undefined);
    }) as Promise<void>;
  return { work, end: () => end() };
}

async function pass(seconds: number) {
  for (let passed = 0; passed < seconds; passed++) {
    clock.now += 1000;
    await jest.advanceTimersByTimeAsync(1000);
  }
}

test('Packing lease: another process holds the lease of a device group: no work begins until that lease is released', async () => {
  const { work, end } = endless();
  const held = leasesOf('one').hold(0, work);
  await pass(1);
  const other = jest.fn(async () => {});
  expect(await leasesOf('two').hold(0, other)).toBe(false);
  expect(other).not.toHaveBeenCalled();
  expect(await leasesOf('two').hold(1, other)).toBe(true);
  end();
  expect(await held).toBe(true);
  expect(await leasesOf('two').hold(0, other)).toBe(true);
  expect(other).toHaveBeenCalledTimes(2);
});

test('Packing lease: packing takes longer than the lease time: the lease is renewed until packing ends', async () => {
  const { work, end } = endless();
  const renew = jest.fn(store.renew);
  const held = leasesOf('one', { renew }).hold(0, work);
  await pass(200);
  expect(await leasesOf('two').hold(0, async () => {})).toBe(false);
  end();
  await held;
  renew.mockClear();
  await pass(60);
  expect(renew).not.toHaveBeenCalled();
});

test('Packing lease: a process cannot renew its lease: another process gets the lease after a minute, and keeps it', async () => {
  const { work, end } = endless();
  const renew = async () => {
    throw new Error('away');
  };
  const held = leasesOf('one', { renew }).hold(0, work);
  await pass(58);
  expect(await store.take(0, 'two')).toBe(false);
  await pass(3);
  expect(await store.take(0, 'two')).toBe(true);
  end();
  expect(await held).toBe(true);
  expect(await store.take(0, 'three')).toBe(false);
});

test('Packing lease: the work under the lease fails: the lease is released, and hold() rejects with the error', async () => {
  const failing = leasesOf('one').hold(0, () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(await store.take(0, 'two')).toBe(true);
});

test('Packing lease: the work under the lease is done: hold() resolves after the lease is released', async () => {
  let isReleased = false;
  const release = async () => {
    await Promise.resolve();
    await Promise.resolve();
    isReleased = true;
  };
  expect(await leasesOf('one', { release }).hold(0, async () => {})).toBe(true);
  expect(isReleased).toBe(true);
});

test('Packing lease: the release of the lease fails: hold() still resolves to true', async () => {
  const release = async () => {
    throw new Error('away');
  };
  expect(await leasesOf('one', { release }).hold(0, async () => {})).toBe(true);
});
