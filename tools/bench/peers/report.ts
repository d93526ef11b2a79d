import { medianOf } from '../measure/rounds.ts';
import { figure, othersOf, stealOf } from '../report/table.ts';
import type { measureMonth } from './month.ts';
import type { Name } from './pipelines.ts';
import { bestOf, type measureLatencies, type ShapeRates } from './rates.ts';
import type { Class } from './settings.ts';

const TITLES: Record<Name, string> = {
  millrace: 'Millrace',
  questdb: 'Telegraf, QuestDB',
  influxdb: 'Telegraf, InfluxDB',
};

export interface ClassResult {
  durability: Class;
  rates: ShapeRates[];
  /** samples that a peer counted but does not store */
  unstored: Partial<Record<Name, number>>;
  latency: { rate: number; rounds: Awaited<ReturnType<typeof measureLatencies>> };
  month?: Awaited<ReturnType<typeof measureMonth>>;
}

export const peerTables = (classes: ClassResult[]): Array<{ head: string[]; rows: string[][] }> => [
  ...classes.map(ratesTable),
  {
    head: ['CPU µs a sample', 'ingest or Telegraf', 'database', 'broker', 'together', 'publisher'],
    rows: classes.flatMap(cpuRows),
  },
  {
    head: ['4x10, from publish to acknowledgement', 'p50 ms', 'p99 ms', 'p99.9 ms', 'steal'],
    rows: classes.flatMap(latencyRows),
  },
  ...classes.flatMap(({ month }) => (month ? monthTables(month) : [])),
];

/** Many samples per message, and one. */
const COMPARED = ['1x60', '4x10', '1x1'];

/** Markdown: Millrace next to QuestDB, in one paragraph. */
export function comparison(classes: ClassResult[]): string {
  const fast = classes.find(({ durability }) => durability === 'K') ?? classes[0];
  const month = classes.find((result) => result.month)?.month;
  const ratios = (fast?.rates ?? [])
    .filter(({ shape }) => COMPARED.includes(shape))
    .map(({ shape, rounds }) => {
      const ratio = medianOf(rounds, ({ millrace, questdb }) => millrace.rate / questdb.rate);
      return `**${figure(ratio)} times** at ${shape}`;
    });
  const bytes = (name: Name) => figure(Number(month?.bytes[name]));
  const disk =
    month && `A month takes ${bytes('millrace')} bytes a sample on disk, there ${bytes('questdb')}.`;
  return [
    `Samples/s that Millrace acknowledges, against Telegraf with QuestDB behind the same Mosquitto (sensors x samples a message): ${ratios.join(', ')}.`,
    disk,
  ]
    .filter(Boolean)
    .join(' ');
}

/** Millrace is first. */
const namesIn = ({ rates }: ClassResult): Name[] =>
  (Object.keys(rates[0]?.rounds[0]?.results ?? {}) as Name[]).sort(
    (one, other) => Object.keys(TITLES).indexOf(one) - Object.keys(TITLES).indexOf(other),
  );

function ratesTable(result: ClassResult) {
  const { durability, rates, unstored } = result;
  const peers = namesIn(result).filter((name) => name !== 'millrace');
  return {
    head: [
      `class ${durability}, thousand samples/s`,
      TITLES.millrace,
      ...peers.flatMap((name) => [TITLES[name], 'ours / theirs', 'undelivered, batch']),
      'steal',
      'others',
    ],
    rows: [
      ...rates.map(({ shape, sweeps, rounds }) => [
        shape,
        figure(medianOf(rounds, ({ millrace }) => millrace.rate / 1000)),
        ...peers.flatMap((name) => {
          const { undelivered, batch } = bestOf(sweeps, name);
          return [
            figure(medianOf(rounds, ({ [name]: peer }) => peer.rate / 1000)),
            figure(medianOf(rounds, ({ millrace, [name]: peer }) => millrace.rate / peer.rate)),
            `${undelivered}, ${batch}${sweeps[name] ? '' : ', not swept'}`,
          ];
        }),
        stealOf(rounds),
        othersOf(rounds),
      ]),
      [
        ...['counted and not stored, samples', '0'],
        ...peers.flatMap((name) => [String(unstored[name]), '', '']),
        ...['', ''],
      ],
    ],
  };
}

const cpuRows = (result: ClassResult) =>
  result.rates.flatMap(({ shape, rounds }) =>
    namesIn(result).map((name) => {
      const of = (...processes: string[]) =>
        figure(
          medianOf(rounds, ({ [name]: { cpu } }) =>
            processes.reduce((sum, process) => sum + (cpu[process] ?? Number.NaN), 0),
          ),
        );
      return [
        `${result.durability}, ${shape}, ${TITLES[name]}`,
        ...[of('ingest'), of('database'), of('broker'), of('ingest', 'database', 'broker'), of('publisher')],
      ];
    }),
  );

const latencyRows = (result: ClassResult) =>
  namesIn(result).map((name) => [
    `${result.durability}, ${TITLES[name]}, ${figure(result.latency.rate / 1000)} thousand samples/s`,
    ...(['p50', 'p99', 'p999'] as const).map((key) =>
      figure(medianOf(result.latency.rounds, ({ [name]: latency }) => latency[key])),
    ),
    stealOf(result.latency.rounds),
  ]);

function monthTables({ samples, bytes, rate, rounds }: NonNullable<ClassResult['month']>) {
  const names = (Object.keys(TITLES) as Name[]).filter((name) => bytes[name] !== undefined);
  return [
    {
      head: [`a month of ${figure(samples / 1e6)} million samples, two decimals`, 'bytes a sample on disk'],
      rows: names.map((name) => [TITLES[name], figure(Number(bytes[name]))]),
    },
    {
      head: [
        `reading, with ${figure(rate / 1000)} thousand samples/s coming in`,
        'latest of 100, p50 ms',
        'p99 ms',
        'month in 500 bins, p50 ms',
        'p99 ms',
        'items',
        'steal',
      ],
      rows: names.map((name) => [
        TITLES[name],
        ...(['latest', 'series'] as const).flatMap((kind) =>
          (['p50', 'p99'] as const).map((key) =>
            figure(medianOf(rounds, ({ [name]: read }) => read[kind][key])),
          ),
        ),
        (['latest', 'series'] as const)
          .map((kind) => medianOf(rounds, ({ [name]: read }) => read[kind].items))
          .join(', '),
        stealOf(rounds),
      ]),
    },
  ];
}
