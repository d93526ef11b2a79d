import { loadOf } from '../load/shapes.ts';
import { type Comparison, compare, cpuOfBoth, measureRate, type Rate } from '../measure/rate.ts';
import { alternate, median, medianOf, type Round } from '../measure/rounds.ts';
import { figure, stealOf } from '../report/table.ts';
import type { Part } from './index.ts';

const LOADS = ['1x60', '1x10', '50x1'];

type Name = 'packed' | 'no-latest';

/**
 * Measures the cost of a sample: ingest compared with parsing, digest and encoding of the same messages alone, and ingest with `latest`
 * compared with ingest without `latest`.
 */
export const cost: Part<Result> = {
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
    const least: Record<string, number> = {};
    for (const shape of shapes) {
      status(`${shape}, parsing, digest and encoding alone`);
      least[shape] = await alone.cost(shape, flags.runMs);
    }
    const json = [];
    for (let round = 0; round < flags.rounds; round++) {
      status('plain JSON, and a map of sensors');
      const plain = await alone.jsonCost('plain', flags.runMs);
      json.push({ plain, map: await alone.jsonCost('map', flags.runMs) });
    }
    return { loads, least, json };
  },

  tables: ({ loads, least, json = [] }) => [
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
        figure(medianOf(rounds, ({ packed }) => cpuOfBoth(packed))),
        figure(medianOf(rounds, (results) => cpuOfBoth(results['no-latest']))),
        figure(medianOf(rounds, (results) => cpuOfBoth(results.packed) / cpuOfBoth(results['no-latest']))),
        stealOf(rounds),
      ]),
    },
    ...(json.length === 0
      ? []
      : [
          {
            head: ['a message of one value, parsing, digest, encoding alone', 'CPU µs'],
            rows: (['plain', 'map'] as const).map((form) => [
              form === 'plain' ? 'plain JSON' : 'map of sensors',
              figure(median(json.map((round) => round[form]))),
            ]),
          },
        ]),
  ],
};

/** `json`: CPU µs per message of one value, as plain JSON and as a map of sensors, by round. Older raw files lack it. */
type Result = {
  loads: Comparison<Name>[];
  least: Record<string, number>;
  json?: Array<{ plain: number; map: number }>;
};

/** The simulator's collar has four sensors per device. */
const FLEET_LOAD = '4x10';

const FLEETS = { '100 sensors': 25, '10,000 sensors': 2500, '100,000 sensors': 25_000 };

type FleetName = keyof typeof FLEETS;

const FLEET_NAMES = Object.keys(FLEETS) as FleetName[];

export const fleet: Part<Round<FleetName, Rate>[]> = {
  name: 'fleet',
  title: `From 100 to 100,000 sensors, load ${FLEET_LOAD}`,

  async run({ environment, flags, status }) {
    const pipeline = await environment.pipeline('packed');
    const timing = { database: environment.database, warmMs: flags.warmMs, forMs: flags.runMs };
    const shape = (name: FleetName) => loadOf(FLEET_LOAD, FLEETS[name]);
    status('registering 100,000 sensors');
    await measureRate(pipeline, shape('100,000 sensors'), { ...timing, forMs: 100 });
    return alternate({
      names: FLEET_NAMES,
      rounds: flags.rounds,
      measure: (name) => measureRate(pipeline, shape(name), timing),
      onStatus: status,
    });
  },

  tables: (rounds) => [
    {
      head: ['', 'thousand samples/s', 'ingest µs', 'database µs', 'together, against 100', 'steal'],
      rows: FLEET_NAMES.map((name) => [
        name,
        figure(medianOf(rounds, (results) => results[name].rate / 1000)),
        figure(medianOf(rounds, (results) => Number(results[name].cpu['ingest']))),
        figure(medianOf(rounds, (results) => Number(results[name].cpu['database']))),
        figure(medianOf(rounds, (results) => cpuOfBoth(results[name]) / cpuOfBoth(results['100 sensors']))),
        stealOf(rounds),
      ]),
    },
  ],
};
