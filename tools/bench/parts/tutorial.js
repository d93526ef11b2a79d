import { compare } from '../measure/comparison.js';
import { medianOf } from '../measure/rounds.js';
import { stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Comparison } from '../measure/comparison.js' */
/** @import { Part } from './index.js' */

/** The factory: where rows are of many partitions, the tutorial's way is at its best. */
const LOAD = '50x1';

/** @typedef {'packed' | 'with latest' | 'without'} Name */

/**
 * The factory against the tutorial's way: one logged batch over the partitions of all sensors. As it
 * stands it keeps no `latest`; so it is measured with the `latest` that ours keeps, and without any.
 *
 * @type {Part<Comparison<Name>[]>}
 */
export const tutorial = {
  name: 'tutorial',
  title: "Against the tutorial's way: a logged batch over all sensors' partitions",

  async run(context) {
    const { environment, flags } = context;
    return compare(context, {
      loads: flags.shapes.filter((shape) => shape === LOAD),
      variants: {
        packed: await environment.pipeline('packed'),
        'with latest': await environment.pipeline('tutorial-latest', {
          store: 'tutorial-latest',
          gate: true,
        }),
        without: await environment.pipeline('tutorial', { store: 'tutorial', gate: true }),
      },
      swept: ['with latest', 'without'],
    });
  },

  tables: (loads) => [
    {
      head: [
        'thousand samples/s',
        'packed',
        'logged batch, latest',
        'ratio',
        'logged batch alone',
        'ratio',
        'in flight',
        'steal',
      ],
      rows: loads.map(({ shape, rounds, sweeps }) => [
        shape,
        figure(medianOf(rounds, ({ packed }) => packed.rate / 1000)),
        figure(medianOf(rounds, (results) => results['with latest'].rate / 1000)),
        figure(medianOf(rounds, (results) => results.packed.rate / results['with latest'].rate)),
        figure(medianOf(rounds, ({ without }) => without.rate / 1000)),
        figure(medianOf(rounds, ({ packed, without }) => packed.rate / without.rate)),
        `${sweeps['with latest']?.best}, ${sweeps.without?.best}`,
        stealOf(rounds),
      ]),
    },
  ],
};
