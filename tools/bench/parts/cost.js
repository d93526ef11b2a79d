import { compare } from '../measure/comparison.js';
import { medianOf } from '../measure/rounds.js';
import { stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Comparison } from '../measure/comparison.js' */
/** @import { Rate } from '../measure/rate.js' */
/** @import { Part } from './index.js' */

/** Where it is looked at closely. */
const LOADS = ['1x60', '1x10', '50x1'];

/** @typedef {'packed' | 'no-latest'} Name */

/**
 * The cost of a sample: ingest against parsing, digest and encoding of the same messages alone; and everything with
 * `latest` kept against the same without.
 *
 * @type {Part<Result>}
 */
export const cost = {
  name: 'cost',
  title: 'What a sample costs, in CPU µs',

  async run(context) {
    const { environment, flags, status } = context;
    const shapes = flags.shapes.filter((shape) => LOADS.includes(shape));
    const loads = await compare(context, {
      loads: shapes,
      variants: {
        packed: await environment.pipeline('packed'),
        'no-latest': await environment.pipeline('no-latest', { store: 'no-latest' }),
      },
      swept: [],
    });
    const alone = await environment.alone();
    /** @type {Record<string, number>} */
    const least = {};
    for (const shape of shapes) {
      status(`${shape}, parsing, digest and encoding alone`);
      least[shape] = await alone.cost(shape, flags.runMs);
    }
    return { loads, least };
  },

  tables: ({ loads, least }) => [
    {
      head: [
        'CPU µs a sample',
        'ingest',
        'parsing, digest, encoding alone',
        'ratio',
        'ingest and database',
        'without latest',
        'ratio',
        'steal',
      ],
      rows: loads.map(({ shape, rounds }) => [
        shape,
        figure(medianOf(rounds, ({ packed }) => Number(packed.cpu['ingest']))),
        figure(Number(least[shape])),
        figure(medianOf(rounds, ({ packed }) => Number(packed.cpu['ingest']) / Number(least[shape]))),
        figure(medianOf(rounds, ({ packed }) => both(packed))),
        figure(medianOf(rounds, (results) => both(results['no-latest']))),
        figure(medianOf(rounds, (results) => both(results.packed) / both(results['no-latest']))),
        stealOf(rounds),
      ]),
    },
  ],
};

/** @param {Rate} rate */
const both = ({ cpu }) => Number(cpu['ingest']) + Number(cpu['database']);

/** @typedef {{ loads: Comparison<Name>[], least: Record<string, number> }} Result */
