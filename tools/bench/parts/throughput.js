import { compare } from '../measure/rate.js';
import { medianOf } from '../measure/rounds.js';
import { figure, othersOf, stealOf } from '../report/table.js';

/** @import { Comparison } from '../measure/rate.js' */
/** @import { Part } from './index.js' */

/** @typedef {'packed' | 'rows' | 'loop' | 'native'} Name */

const NAMES = /** @type {Name[]} */ (['packed', 'rows', 'loop', 'native']);

/** Baselines with a fixed number of requests in flight: the best that was found. Millrace finds its own. */
const SWEPT = /** @type {Array<'rows' | 'native'>} */ (['rows', 'native']);

/**
 * The whole way at each load, packed and one row per sample; the same ingest without MQTT; and the same batches by the
 * native baseline. Side by side, `latest` kept by all.
 *
 * @type {Part<Comparison<Name>[]>}
 */
export const throughput = {
  name: 'throughput',
  title:
    'The whole way: publisher, Mosquitto, ingest, Cassandra; every message acknowledged after its commit',

  async run(context) {
    const { environment, flags } = context;
    return compare(context, {
      loads: flags.shapes,
      variants: {
        packed: await environment.pipeline('packed'),
        rows: await environment.pipeline('rows', { store: 'rows', gate: true }),
        loop: await environment.loop(),
        native: await environment.native(),
      },
      swept: SWEPT,
    });
  },

  tables: (loads) => [
    {
      head: [
        'thousand samples/s',
        'packed',
        'one row per sample',
        'ratio',
        'without MQTT',
        'ratio',
        'native baseline',
        'ratio',
        'steal',
        'others',
      ],
      rows: loads.map(({ shape, rounds }) => [
        shape,
        figure(medianOf(rounds, ({ packed }) => packed.rate / 1000)),
        figure(medianOf(rounds, ({ rows }) => rows.rate / 1000)),
        figure(medianOf(rounds, ({ packed, rows }) => packed.rate / rows.rate)),
        figure(medianOf(rounds, ({ loop }) => loop.rate / 1000)),
        figure(medianOf(rounds, ({ packed, loop }) => packed.rate / loop.rate)),
        figure(medianOf(rounds, ({ native }) => native.rate / 1000)),
        figure(medianOf(rounds, ({ packed, native }) => packed.rate / native.rate)),
        stealOf(rounds),
        othersOf(rounds),
      ]),
    },
    {
      head: ['CPU µs a sample', 'ingest', 'database', 'broker', 'publisher'],
      rows: loads.flatMap(({ shape, rounds }) =>
        NAMES.map((name) => [
          `${shape} ${name}`,
          ...['ingest', 'database', 'broker', 'publisher'].map((process) =>
            figure(medianOf(rounds, (results) => results[name].cpu[process] ?? Number.NaN)),
          ),
        ]),
      ),
    },
    {
      head: ['requests in flight that gave the highest rate', ...SWEPT],
      rows: loads.map(({ shape, sweeps }) => [shape, ...SWEPT.map((name) => String(sweeps[name]?.best))]),
    },
  ],
};

/** The factory: where rows are of many partitions, the tutorial's way is at its best. */
const FACTORY = '50x1';

/** @typedef {'packed' | 'with latest' | 'without'} TutorialName */

/**
 * The factory against the tutorial's way: one logged batch over the partitions of all sensors. As it
 * stands it keeps no `latest`; so it is measured with the `latest` that ours keeps, and without any.
 *
 * @type {Part<Comparison<TutorialName>[]>}
 */
export const tutorial = {
  name: 'tutorial',
  title: "Against the tutorial's way: a logged batch over all sensors' partitions",

  async run(context) {
    const { environment, flags } = context;
    return compare(context, {
      loads: flags.shapes.filter((shape) => shape === FACTORY),
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
