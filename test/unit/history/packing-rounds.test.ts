import { expect, test } from '@jest/globals';
import { createPacking } from '../../../api/history/packing/index.ts';
import { createContext } from '../../../api/observability/index.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { HOUR_MS } from '../../../schema/rules.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { GROUPS, HOUR, samplesOf, useMemoryPath } from '../../support/history/memory-path.ts';
import { createLogs } from '../../support/processes/logs.ts';

const CLOSING = HOUR + 2 * HOUR_MS;

const afterwards = useCleanUps();

const path = useMemoryPath();

type Store = typeof path.store;

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
