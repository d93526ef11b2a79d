import { expect, jest, test } from '@jest/globals';
import { runEdgeHistories } from '../../../support/features/sparkplug/edge-histories.ts';
import { readMemoryTables } from '../../../support/memory-store/index.ts';
import { runs } from '../../../support/runs.ts';

const HISTORIES = runs(200);
const SEED = jest.getSeed();

/** Number of edge nodes of one installation. */
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
