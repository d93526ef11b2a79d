import { startObserving } from '../measure/observe.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Observed } from '../measure/observe.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Worked } from '../environment/processes.js' */
/** @import { Part } from './index.js' */

/** Half of them insert, half select. */
const WORKERS = 1024;

/**
 * Very many callers on the store itself, without ingest and MQTT.
 *
 * @type {Part<Round<'workers', Result>[]>}
 */
export const workers = {
  name: 'workers',
  title: `${WORKERS} concurrent workers on the store: half insert a sample, half select a sensor's newest ten`,

  async run({ environment, flags, status }) {
    const process = await environment.workers();
    status('warming up');
    await process.run({ workers: WORKERS, forMs: flags.warmMs });
    return alternate({
      names: /** @type {['workers']} */ (['workers']),
      rounds: flags.rounds,
      onStatus: status,
      async measure() {
        const observed = await startObserving({ ingest: process.pid, database: environment.database });
        const worked = await process.run({ workers: WORKERS, forMs: flags.runMs });
        return { ...worked, ...(await observed()) };
      },
    });
  },

  tables: (rounds) => [
    {
      head: ['', 'requests/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'errors', 'steal'],
      rows: /** @type {const} */ (['inserts', 'selects']).map((kind) => [
        kind,
        figure(medianOf(rounds, ({ workers: run }) => run[kind].count / run.seconds)),
        .../** @type {const} */ (['p50', 'p99', 'p999']).map((key) =>
          figure(medianOf(rounds, ({ workers: run }) => run[kind][key])),
        ),
        String(rounds.reduce((sum, { results }) => sum + results.workers[kind].errors, 0)),
        stealOf(rounds),
      ]),
    },
  ],
};

/** @typedef {{ inserts: Worked, selects: Worked } & Observed} Result */
