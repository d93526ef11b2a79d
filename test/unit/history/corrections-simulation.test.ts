import { expect, test } from '@jest/globals';
import { firstFaults, useMemorySimulations } from '../../support/history/faults.ts';
import type { Mistake } from '../../support/history/simulation.ts';

/** Number of simulations of the unchanged code. */
const RUNS = 8;

/** Each mistake shows in at least one of 3 simulations. */
const MOST_RUNS = 60;

const faultsOf = useMemorySimulations(24);

test('Corrections simulation: shuffled, repeated, dying processes: every reader sees the newest revisions', async () => {
  for (let run = 0; run < RUNS; run++) expect(await faultsOf(run)).toEqual([]);
});

const MISTAKES: Record<string, Mistake> = {
  'a reader ignores revisions': {
    slow: [],
    readerStore: (store) => ({ ...store, packed: { ...store.packed, readSamples: withoutRevisions(store) } }),
  },
  'the packer ignores revisions': {
    slow: [],
    packerStore: (store) => ({
      ...store,
      packing: {
        ...store.packing,
        historyHour: async (key, hour) =>
          (await store.packing.historyHour(key, hour)).map(
            (series) => series && { times: series.times, values: series.values, digest: series.digest },
          ),
      },
    }),
  },
  'ingest does not mark corrected hours': {
    ingestStore: ({ write, ...store }) => ({
      ...store,
      write: { ...write, history: { ...write.history, writeLate: async () => {} } },
    }),
  },
};

test.each(Object.entries(MISTAKES))(
  'Corrections simulation: mistake, %s: a fault is found',
  async (_, mistake) => {
    expect(await firstFaults(faultsOf, mistake, MOST_RUNS)).not.toEqual([]);
  },
);

function withoutRevisions(
  store: Parameters<NonNullable<Mistake['readerStore']>>[0],
): typeof store.packed.readSamples {
  return async (key, from, to) => {
    const hours = await store.packed.readSamples(key, from, to);
    return new Map(
      [...hours].map(([hour, rows]) => [hour, rows.map(({ times, values }) => ({ times, values }))]),
    );
  };
}
