import { type Comparison, compare } from '../measure/rate.ts';
import { medianOf } from '../measure/rounds.ts';
import { figure, othersOf, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

type Name = 'packed' | 'rows' | 'loop';

const NAMES = ['packed', 'rows', 'loop'] as Name[];

/**
 * Measures the whole pipeline at each load side by side: packed, as one row per sample, and ingest without MQTT. All variants
 * write `latest`. The variant with rows gets the best number of requests in flight that a sweep finds. Millrace finds its own
 * number.
 */
export const throughput: Part<Comparison<Name>[]> = {
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
      },
      swept: ['rows'],
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
      head: ['requests in flight that gave the highest rate', 'rows'],
      rows: loads.map(({ shape, sweeps }) => [shape, String(sweeps.rows?.best)]),
    },
  ],
};
