import { compare } from '../measure/comparison.js';
import { medianOf } from '../measure/rounds.js';
import { othersOf, stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Comparison } from '../measure/comparison.js' */
/** @import { Part } from './index.js' */

/** @typedef {'packed' | 'rows' | 'hour rows' | 'loop' | 'native'} Name */

const NAMES = /** @type {Name[]} */ (['packed', 'rows', 'hour rows', 'loop', 'native']);

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
        'hour rows': await environment.pipeline('hour-rows', { store: 'hour-rows', gate: true }),
        loop: await environment.loop(),
        native: await environment.native(),
      },
      swept: ['rows', 'hour rows', 'native'],
    });
  },

  tables: (loads) => [
    {
      head: [
        'thousand samples/s',
        'packed',
        'one row per sample',
        'ratio',
        'rows in our partitions',
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
        figure(medianOf(rounds, (results) => results['hour rows'].rate / 1000)),
        figure(medianOf(rounds, (results) => results.packed.rate / results['hour rows'].rate)),
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
      head: [
        'thousand samples/s by requests in flight',
        ...(loads[0]?.sweeps.rows?.tried.map(({ inFlight }) => String(inFlight)) ?? []),
        'best',
      ],
      rows: loads.flatMap(({ shape, sweeps }) =>
        Object.entries(sweeps).map(([name, { tried, best }]) => [
          `${shape} ${name}`,
          ...tried.map(({ rate }) => figure(rate / 1000)),
          String(best),
        ]),
      ),
    },
  ],
};
