import type { Latencies } from '../load/open-loop.ts';
import { loadOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measurePeak } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

/** The simulator's collar. */
const LOAD = '4x10';

const SHARES = { '25 %': 0.25, '50 %': 0.5, '75 %': 0.75 };

/** A run is longer than one of a comparison, because a p99.9 needs many messages. */
const RUN_FACTOR = 2;

type Name = keyof typeof SHARES;

const NAMES = Object.keys(SHARES) as Name[];

type Result = { peak: number; rounds: Round<Name, Latencies & { steal: number; others: number }>[] };

/** Measures the time from the intended publish of a message to the acknowledgement of its commit, at shares of the highest rate. */
export const latency: Part<Result> = {
  name: 'latency',
  title: `Latency from the intended publish to the acknowledgement of the commit, open loop, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const shape = loadOf(LOAD);
    const pipeline = await environment.observedPipeline();
    status('the highest rate');
    const peak = await measurePeak(pipeline, shape, { environment, flags });
    const pids = { ...pipeline.pids, database: environment.database.pid };
    const rounds = await alternate({
      names: NAMES,
      rounds: flags.rounds,
      onStatus: status,
      measure: (name) =>
        withShares(pids, async () => {
          const pace = { rate: peak * SHARES[name], forMs: flags.runMs * RUN_FACTOR };
          return (await pipeline.pace(shape, pace)).latency;
        }),
    });
    return { peak, rounds };
  },

  tables: ({ peak, rounds }) => [
    {
      head: [
        `of ${figure(peak / 1000)} thousand samples/s`,
        ...['p50 ms', 'p99 ms', 'p99.9 ms', 'mean ms', 'steal'],
      ],
      rows: NAMES.map((name) => [
        name,
        ...(['p50', 'p99', 'p999', 'mean'] as const).map((key) =>
          figure(medianOf(rounds, (results) => results[name][key])),
        ),
        stealOf(rounds),
      ]),
    },
  ],
};
