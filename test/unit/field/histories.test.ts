import { expect, jest, test } from '@jest/globals';
import { runDeviceHistories } from '../../support/field/device-histories.ts';
import { readMemoryTables } from '../../support/memory-store/index.ts';
import { runs } from '../../support/runs.ts';

const HISTORIES = runs(200);
const SEED = jest.getSeed();

const DEVICES = 100;

test('Native topics: random histories of devices: the message that arrived last decides state and description of a device', async () => {
  const tables = await readMemoryTables();
  for (let done = 0; done < HISTORIES; done += DEVICES) {
    const seed = SEED + done;
    const faults = await runDeviceHistories({ seed, devices: DEVICES, steps: 12, tables });
    expect({ seed, faults }).toEqual({ seed, faults: [] });
  }
}, 86_400_000);
