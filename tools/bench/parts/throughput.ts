import { loadOf } from '../load/shapes.ts';
import { measureRate, type Rate } from '../measure/rate.ts';
import { alternate, medianOf, type Round } from '../measure/rounds.ts';
import { figure, othersOf, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

type Name = 'packed' | 'rows';

const NAMES = ['packed', 'rows'] as Name[];

/** Packed samples/s against one row per sample. */
const MIN_RATIO: Record<string, number> = { '1x60': 3.5, '1x10': 1.8, '4x10': 2.2, '50x1': 1.6, '1x1': 1 };

interface Result {
  shape: string;
  rounds: Round<Name, Rate>[];
}

export const throughput: Part<Result[]> = {
  name: 'throughput',
  title:
    'The whole way: publisher, Mosquitto, ingest, Cassandra; every message acknowledged after its commit',
  hasRows: true,

  async run({ environment, flags, status }) {
    const pipelines = {
      packed: await environment.pipeline('packed'),
      rows: await environment.pipeline('rows', { rows: true }),
    };
    const timing = { database: environment.database.pid, warmMs: flags.warmMs, forMs: flags.runMs };
    const results: Result[] = [];
    for (const shape of flags.shapes) {
      const measure = (name: Name) => measureRate(pipelines[name], loadOf(shape), timing);
      const onStatus = (text: string) => status(`${shape}, ${text}`);
      results.push({
        shape,
        rounds: await alternate({ names: NAMES, rounds: flags.rounds, measure, onStatus }),
      });
    }
    return results;
  },

  tables: (results) => [
    {
      head: ['thousand samples/s', 'packed', 'one row per sample', 'ratio', 'steal', 'others'],
      rows: results.map(({ shape, rounds }) => [
        shape,
        figure(medianOf(rounds, ({ packed }) => packed.rate / 1000)),
        figure(medianOf(rounds, ({ rows }) => rows.rate / 1000)),
        figure(medianOf(rounds, ({ packed, rows }) => packed.rate / rows.rate)),
        stealOf(rounds),
        othersOf(rounds),
      ]),
    },
    {
      head: ['CPU µs a sample', 'ingest', 'database', 'broker', 'publisher'],
      rows: results.flatMap(({ shape, rounds }) =>
        NAMES.map((name) => [
          `${shape} ${name}`,
          ...['ingest', 'database', 'broker', 'publisher'].map((process) =>
            figure(medianOf(rounds, (measured) => Number(measured[name].cpu[process]))),
          ),
        ]),
      ),
    },
  ],

  targets: (results) =>
    results.flatMap(({ shape, rounds }) => {
      const atLeast = MIN_RATIO[shape];
      if (atLeast === undefined) return [];
      const value = medianOf(rounds, ({ packed, rows }) => packed.rate / rows.rate);
      return [{ figure: `acknowledged samples/s against one row per sample, ${shape}`, atLeast, value }];
    }),
};
