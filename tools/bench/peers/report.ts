import { medianOf } from '../measure/rounds.ts';
import { figure, othersOf, stealOf } from '../report/table.ts';
import type { measureMonth } from './month.ts';
import type { Name } from './pipelines.ts';
import type { measureLatencies, ShapeRates } from './rates.ts';
import type { Class } from './settings.ts';

const TITLES: Record<Name, string> = {
  millrace: 'Millrace',
  questdb: 'Telegraf, QuestDB',
};

export interface ClassResult {
  durability: Class;
  rates: ShapeRates[];
  latency: { rate: number; rounds: Awaited<ReturnType<typeof measureLatencies>> };
  month?: Awaited<ReturnType<typeof measureMonth>>;
}

export const peerTables = (classes: ClassResult[]): Array<{ head: string[]; rows: string[][] }> => [
  ...classes.map(ratesTable),
  {
    head: ['4x10, from publish to acknowledgement', 'p50 ms', 'p99 ms', 'p99.9 ms', 'steal'],
    rows: classes.flatMap(latencyRows),
  },
  ...classes.flatMap(({ month }) => (month ? monthTables(month) : [])),
];

/** Many samples per message, and one. */
const COMPARED = ['1x60', '4x10', '1x1'];

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

const NAMES = Object.keys(TITLES) as Name[];

const ratesTable = ({ durability, rates }: ClassResult) => ({
  head: [
    `class ${durability}, thousand samples/s`,
    ...[TITLES.millrace, TITLES.questdb, 'ours / theirs', 'steal', 'others'],
  ],
  rows: rates.map(({ shape, rounds }) => [
    shape,
    ...NAMES.map((name) => figure(medianOf(rounds, ({ [name]: { rate } }) => rate / 1000))),
    figure(medianOf(rounds, ({ millrace, questdb }) => millrace.rate / questdb.rate)),
    stealOf(rounds),
    othersOf(rounds),
  ]),
});

const latencyRows = (result: ClassResult) =>
  NAMES.map((name) => [
    `${result.durability}, ${TITLES[name]}, ${figure(result.latency.rate / 1000)} thousand samples/s`,
    ...(['p50', 'p99', 'p999'] as const).map((key) =>
      figure(medianOf(result.latency.rounds, ({ [name]: latency }) => latency[key])),
    ),
    stealOf(result.latency.rounds),
  ]);

function monthTables({ samples, bytes, rate, rounds }: NonNullable<ClassResult['month']>) {
  return [
    {
      head: [`a month of ${figure(samples / 1e6)} million samples, two decimals`, 'bytes a sample on disk'],
      rows: NAMES.map((name) => [TITLES[name], figure(bytes[name])]),
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
      rows: NAMES.map((name) => [
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
