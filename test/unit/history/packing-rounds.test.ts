import { expect, test } from '@jest/globals';
import { createPacking } from '../../../api/history/packing/index.ts';
import { createContext } from '../../../api/observability/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { GROUPS, HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';
import { createLogs } from '../../support/processes/logs.ts';
import { until } from '../../support/until.ts';

const CLOSING = HOUR + 2 * HOUR_MS;

const afterwards = useCleanUps();

const path = useMemoryPath();

type Store = typeof path.store;

/** Creates the packing of a process, with its logs. @param parts in place of the store's own */
function createProcess(parts?: Partial<Store>) {
  const logs = createLogs();
  const clock = () => path.clock.now;
  const config = readSettings({ LATEST_GROUPS: String(GROUPS), BATCH_DAYS: '8' }, { envFile: '' });
  const packing = createPacking(createContext({ config, version: 'test', logger: logs.logger, clock }), {
    store: { ...path.store, ...parts },
    clockGuard: { now: clock } as never,
    pauseMs: 1,
  });
  afterwards(() => packing.stop());
  return { packing, logs };
}

/** @returns whether the hour of the test is packed */
const isPacked = async (): Promise<boolean> => (await path.statisticsOf('device', HOUR)) !== null;

test('History packing: process stops before its first round: nothing is packed', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  let looks = 0;
  const { packProgress } = path.store;
  const { packing } = createProcess({
    packProgress: {
      ...packProgress,
      read: (group) => {
        looks++;
        return packProgress.read(group);
      },
    },
  });
  packing.start();
  await packing.stop();
  // Without the stop a round would begin within 2 ms.
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(looks).toBe(0);
  await packing.packDue();
  expect(await isPacked()).toBe(false);
});

test('History packing: process stops during a read: stop() waits for the read, and the hour is not packed', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  path.clock.now = CLOSING;
  const { packing: store } = path.store;
  let isReading = false;
  let hasRead = false;
  let release: () => void = () => {};
  const released = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  const { packing } = createProcess({
    packing: {
      ...store,
      async blockPage(...args) {
        isReading = true;
        await released;
        const page = await store.blockPage(...args);
        hasRead = true;
        return page;
      },
    },
  });
  packing.start();
  await until(() => isReading, { what: 'a step' });
  const stopped = packing.stop();
  release();
  await stopped;
  expect(hasRead).toBe(true);
  expect(await isPacked()).toBe(false);
});

test('History packing: a row is unreadable: the device, the hour and the number of rows are logged', async () => {
  await path.send('device', samplesOf(HOUR, 20));
  await path.writeBrokenRow('device', HOUR, HOUR + 1);
  path.clock.now = CLOSING;
  const { packing, logs } = createProcess();
  await packing.packDue();
  await packing.packDue();
  const lines = logs.lines.filter(({ msg }) => msg === 'rows cannot be read, and are not packed');
  expect(lines).toEqual([
    expect.objectContaining({
      device: expect.stringMatching(/^[0-9a-f-]{36}$/),
      hour: new Date(HOUR).toISOString(),
      rows: 1,
    }),
  ]);
});
