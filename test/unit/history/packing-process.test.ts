import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createPacking } from '../../../api/history/packing/index.ts';
import { createContext } from '../../../api/observability/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { GROUPS, HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';
import { createLogs } from '../../support/processes/logs.ts';

const HOUR_MS = 3_600_000;
const CLOSING = HOUR + 2 * HOUR_MS;
const FAILED = 'packing failed, and goes on with the next check';

const path = useMemoryPath();
beforeEach(() => {
  path.clock.now = CLOSING;
  // Timers and the monotonic clock stand still until the test moves them.
  jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/**
 * Creates the packing of a process, with its log lines and metrics.
 * @param parts in place of the store's own
 */
function createProcess(
  parts?: Partial<typeof path.store>,
  { isPressed = false }: { isPressed?: boolean } = {},
) {
  const logs = createLogs('debug');
  const clock = () => path.clock.now;
  const config = readSettings({ LATEST_GROUPS: String(GROUPS), BATCH_DAYS: '8' }, { envFile: '' });
  const context = createContext({ config, version: 'test', logger: logs.logger, clock });
  const packing = createPacking(context, {
    store: { ...path.store, health: { ...path.store.health, isPressed: () => isPressed }, ...parts },
    clockGuard: { now: clock } as never,
    pauseMs: 1000,
  });
  return {
    packing,
    linesOf: (text: string) => logs.lines.filter(({ msg }) => msg === text),
    async metric(name: string) {
      const page = await context.metrics.registry.metrics();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
    },
  };
}

/** Runs all callbacks that wait for no timer. */
async function settle() {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Moves timers and the monotonic clock. */
async function pass(ms: number) {
  await jest.advanceTimersByTimeAsync(ms);
  await settle();
}

/** A request that never ends. */
function createHanging() {
  const state = { begun: 0 };
  return {
    state,
    async blockPage() {
      state.begun++;
      return new Promise(() => {}) as Promise<never>;
    },
  };
}

test('History packing: process stops while the database does not answer a read: stop() resolves after 3 s', async () => {
  await path.send('device', samplesOf(HOUR, 2));
  const { state, blockPage } = createHanging();
  const { packing } = createProcess({ packing: { ...path.store.packing, blockPage } });
  packing.start();
  await pass(1500);
  expect(state.begun).toBe(1);
  let hasEnded = false;
  const stopping = packing.stop().then(() => {
    hasEnded = true;
  });
  await pass(2999);
  expect(hasEnded).toBe(false);
  await pass(1);
  expect(hasEnded).toBe(true);
  await stopping;
});

test('History packing: process stops during a round: no other round follows', async () => {
  await path.send('device', samplesOf(HOUR, 2));
  let release: () => void = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const blockPage = jest.fn(async () => {
    await released;
    return { blocks: [], parts: [], next: undefined };
  });
  // Only packing uses a delay of 623 ms.
  jest.spyOn(Math, 'random').mockReturnValue(0.123);
  const renew = jest.fn(path.store.packLeases.renew);
  const { packing } = createProcess({
    packing: { ...path.store.packing, blockPage },
    packLeases: { ...path.store.packLeases, renew },
  });
  packing.start();
  await pass(1500);
  expect(blockPage).toHaveBeenCalledTimes(1);
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const stopping = packing.stop();
  release();
  await stopping;
  await pass(60_000);
  expect(timers).not.toHaveBeenCalledWith(expect.any(Function), 623);
  // The lease is released, so no renewal follows.
  expect(renew).not.toHaveBeenCalled();
});

test('History packing: ingest is under pressure: hours are still packed', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  const { packing, linesOf, metric } = createProcess({}, { isPressed: true });
  await packing.packDue();
  expect(await metric('iot_pack_hours_total')).toBe(1);
  expect(linesOf(FAILED)).toEqual([]);
});

test('History packer: three device groups fail, in random order: all are tried, and the first failure is reported', async () => {
  const draws = [0.9, 0.1, 0.5];
  const random = jest.spyOn(Math, 'random');
  for (const draw of draws) random.mockReturnValueOnce(draw);
  const order: number[] = [];
  const packProgress = {
    ...path.store.packProgress,
    async read(group: Parameters<typeof path.store.packProgress.read>[0]) {
      order.push(group);
      throw new Error(`group ${group}`);
    },
  };
  const { packDue } = path.packer({ store: { packing: path.store.packing, packProgress }, groups: 3 });
  await expect(packDue()).rejects.toThrow('group 1');
  expect(order).toEqual([1, 2, 0]);
});

test('History packer: hours are packed, but packing days with late samples fails: the next round packs these days', async () => {
  const { writeNoticed, read } = path.store.packProgress;
  let failures = 1;
  const packProgress = {
    ...path.store.packProgress,
    async writeNoticed(group: Parameters<typeof writeNoticed>[0], until: Parameters<typeof writeNoticed>[1]) {
      if (failures-- > 0) throw new Error('killed');
      await writeNoticed(group, until);
    },
  };
  const packer = path.packer({ store: { packing: path.store.packing, packProgress }, groups: 1 });
  await expect(packer.packDue()).rejects.toThrow('killed');
  const { packedUntil, noticedUntil } = await read(0);
  expect(packedUntil).toBe(HOUR + HOUR_MS);
  await packer.packDue();
  const progress = await read(0);
  expect(progress.packedUntil).toBe(packedUntil);
  expect(progress.noticedUntil).toBeGreaterThan(noticedUntil);
});
