import { expect, jest, test } from '@jest/globals';
import { runDeviceHistories } from '../../support/field/device-histories.ts';
import { runEdgeHistories } from '../../support/field/edge-histories.ts';
import { readMemoryTables } from '../../support/memory-store/index.ts';
import { runs } from '../../support/runs.ts';

const HISTORIES = runs(200);
const SEED = jest.getSeed();

/** Number of edge nodes or devices of one installation. */
const NODES = 100;

test('Sparkplug: random histories of edge nodes: no value is stored under a wrong name or lost without a dead letter', async () => {
  const tables = await readMemoryTables();
  const totals = { stored: 0, refused: 0, recovered: 0 };
  for (let done = 0; done < HISTORIES; done += NODES) {
    const seed = SEED + done;
    const broker = (done / NODES) % 2 === 0 ? 'external' : 'embedded';
    const result = await runEdgeHistories({ seed, nodes: NODES, steps: 16, broker, tables });
    expect({ seed, broker, faults: result.faults }).toEqual({ seed, broker, faults: [] });
    totals.stored += result.stored;
    totals.refused += result.refused;
    totals.recovered += result.recovered;
  }
  // Enough values must be stored and refused. Otherwise the histories would not test these cases.
  expect(Math.min(totals.stored, totals.refused)).toBeGreaterThan(HISTORIES);
}, 86_400_000);

test('Native topics: random histories of devices: the message that arrived last decides state and description of a device', async () => {
  const tables = await readMemoryTables();
  for (let done = 0; done < HISTORIES; done += NODES) {
    const seed = SEED + done;
    const faults = await runDeviceHistories({ seed, devices: NODES, steps: 12, tables });
    expect({ seed, faults }).toEqual({ seed, faults: [] });
  }
}, 86_400_000);
