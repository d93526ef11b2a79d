import { medianOf } from '../measure/rounds.js';
import { figure, othersOf, stealOf } from '../report/table.js';
import { bestOf } from './rates.js';

/** @import { Kill } from './kills.js' */
/** @import { measureMonth } from './month.js' */
/** @import { Name } from './pipelines.js' */
/** @import { ShapeRates, measureLatencies } from './rates.js' */
/** @import { Class } from './settings.js' */

/** @type {Record<Name, string>} */
const TITLES = { millrace: 'Millrace', questdb: 'Telegraf, QuestDB', influxdb: 'Telegraf, InfluxDB' };

/**
 * The results of one durability class.
 *
 * @typedef {object} ClassResult
 * @property {Class} durability
 * @property {ShapeRates[]} rates
 * @property {Partial<Record<Name, number>>} unstored number of samples that a peer counted but does not store
 * @property {{ rate: number, rounds: Awaited<ReturnType<typeof measureLatencies>> }} latency
 * @property {Partial<Record<Name, Kill[]>>} kills
 * @property {Awaited<ReturnType<typeof measureMonth>>} [month]
 */

/** @param {ClassResult[]} classes @returns {Array<{ head: string[], rows: string[][] }>} */
export const peerTables = (classes) => [
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
  {
    head: ['kill -9', 'samples acknowledged to the publisher', 'of these missing'],
    rows: classes.flatMap(killRows),
  },
];

/** The loads of the comparison: many samples per message, and one. */
const COMPARED = ['1x60', '4x10', '1x1'];

/** @param {ClassResult[]} classes @returns {string} Markdown: Millrace next to QuestDB, in one paragraph */
export function comparison(classes) {
  const fast = classes.find(({ durability }) => durability === 'K') ?? classes[0];
  const month = classes.find((result) => result.month)?.month;
  const ratios = (fast?.rates ?? [])
    .filter(({ shape }) => COMPARED.includes(shape))
    .map(({ shape, rounds }) => {
      const ratio = medianOf(rounds, ({ millrace, questdb }) => millrace.rate / questdb.rate);
      return `**${figure(ratio)} times** at ${shape}`;
    });
  const bytes = (/** @type {Name} */ name) => figure(Number(month?.bytes[name]));
  const disk =
    month && `A month takes ${bytes('millrace')} bytes a sample on disk, there ${bytes('questdb')}.`;
  return [
    `Samples/s that Millrace acknowledges, against Telegraf with QuestDB behind the same Mosquitto (sensors x samples a message): ${ratios.join(', ')}.`,
    disk,
  ]
    .filter(Boolean)
    .join(' ');
}

/** @param {ClassResult} result @returns {Name[]} Millrace is the first name */
const namesIn = ({ rates }) =>
  /** @type {Name[]} */ (Object.keys(rates[0]?.rounds[0]?.results ?? {})).sort(
    (one, other) => Object.keys(TITLES).indexOf(one) - Object.keys(TITLES).indexOf(other),
  );

/** @param {ClassResult} result */
function ratesTable(result) {
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
        'counted and not stored, samples',
        '0',
        ...peers.flatMap((name) => [String(unstored[name]), '', '']),
        '',
        '',
      ],
    ],
  };
}

/** @param {ClassResult} result */
const cpuRows = (result) =>
  result.rates.flatMap(({ shape, rounds }) =>
    namesIn(result).map((name) => {
      /** @param {string[]} processes */
      const of = (...processes) =>
        figure(
          medianOf(rounds, ({ [name]: { cpu } }) =>
            processes.reduce((sum, process) => sum + (cpu[process] ?? Number.NaN), 0),
          ),
        );
      return [
        `${result.durability}, ${shape}, ${TITLES[name]}`,
        of('ingest'),
        of('database'),
        of('broker'),
        of('ingest', 'database', 'broker'),
        of('publisher'),
      ];
    }),
  );

/** @param {ClassResult} result */
const latencyRows = (result) =>
  namesIn(result).map((name) => [
    `${result.durability}, ${TITLES[name]}, ${figure(result.latency.rate / 1000)} thousand samples/s`,
    .../** @type {const} */ (['p50', 'p99', 'p999']).map((key) =>
      figure(medianOf(result.latency.rounds, ({ [name]: latency }) => latency[key])),
    ),
    stealOf(result.latency.rounds),
  ]);

/** @param {NonNullable<ClassResult['month']>} month */
function monthTables({ samples, bytes, rate, rounds }) {
  const names = /** @type {Name[]} */ (Object.keys(TITLES)).filter((name) => bytes[name] !== undefined);
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
        .../** @type {const} */ (['latest', 'series']).flatMap((kind) =>
          /** @type {const} */ (['p50', 'p99']).map((key) =>
            figure(medianOf(rounds, ({ [name]: read }) => read[kind][key])),
          ),
        ),
        /** @type {const} */ (['latest', 'series'])
          .map((kind) => medianOf(rounds, ({ [name]: read }) => read[kind].items))
          .join(', '),
        stealOf(rounds),
      ]),
    },
  ];
}

/** @param {ClassResult} result */
const killRows = (result) =>
  namesIn(result).flatMap((name) =>
    (result.kills[name] ?? []).map(({ victim, acknowledged, missing }) => [
      `${result.durability}, ${TITLES[name]}: ${victim}`,
      String(acknowledged),
      String(missing),
    ]),
  );
