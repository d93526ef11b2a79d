import { requestsOf, type Weight } from './dashboard/views.ts';
import { heapGrowth } from './dashboard/watch.ts';
import type { SignalKind } from './loader/data-set.ts';
import { type Comparison, cpuOfBoth, type Rate } from './measure/rate.ts';
import { median, medianOf } from './measure/rounds.ts';
import type { alarms } from './parts/alarms.ts';
import type { cost, fleet } from './parts/cost.ts';
import type { Result } from './parts/dashboard.ts';
import type { files } from './parts/files.ts';
import type { latency, overload } from './parts/latency.ts';
import type { opening } from './parts/opening.ts';
import { type packing, sensorsOf } from './parts/packing.ts';
import type { reading } from './parts/reading.ts';
import type { disk } from './parts/reading-disk.ts';
import type { streaming } from './parts/streaming.ts';
import type { throughput } from './parts/throughput.ts';
import { RATIOS } from './reading/kinds.ts';
import { figure } from './report/table.ts';

interface Target {
  figure: string;
  part: keyof Results;
  /** either this limit or `atMost` */
  atLeast: number;
  atMost: number;
  /** NaN: the figure was not measured */
  read: (results: Required<Results>) => number;
}

/** Parts that did not run are missing. */
export interface Results {
  throughput?: Awaited<ReturnType<typeof throughput.run>>;
  latency?: Awaited<ReturnType<typeof latency.run>>;
  overload?: Awaited<ReturnType<typeof overload.run>>;
  cost?: Awaited<ReturnType<typeof cost.run>>;
  fleet?: Awaited<ReturnType<typeof fleet.run>>;
  reading?: Awaited<ReturnType<typeof reading.run>>;
  disk?: Awaited<ReturnType<typeof disk.run>>;
  files?: Awaited<ReturnType<typeof files.run>>;
  packing?: Awaited<ReturnType<typeof packing.run>>;
  streaming?: Awaited<ReturnType<typeof streaming.run>>;
  alarms?: Awaited<ReturnType<typeof alarms.run>>;
  dashboard?: Result;
  opening?: Awaited<ReturnType<typeof opening.run>>;
}

/** Limit of a ratio whose expected value is 1. On a shared machine, smaller deviations are noise. */
const SAME = 1.4;

const TARGETS: Array<Omit<Target, 'atLeast' | 'atMost'> & ({ atLeast: number } | { atMost: number })> = [
  overRows('1x60', 3.5),
  overRows('1x10', 1.8),
  overRows('4x10', 2.2),
  overRows('50x1', 1.6),
  overRows('1x1', 1),
  ...['1x60', '1x10', '4x10', '50x1', '1x1'].map(withoutMqtt),
  {
    figure: "p99 from publish to commit at 50 %, against the driver's at the same rate",
    part: 'latency',
    atMost: 3,
    read: ({ latency }) => medianOf(latency.rounds, (results) => results['50 %'].p99 / results.driver.p99),
  },
  {
    figure: 'p99.9 / mean at 200 %, from publish to commit',
    part: 'overload',
    atMost: 4.7,
    read: ({ overload }) =>
      medianOf(
        overload.rounds,
        ({ overload: { latency } }) => latency.published.p999 / latency.published.mean,
      ),
  },
  {
    figure: 'memory of ingest at 200 %, MB',
    part: 'overload',
    atMost: 300,
    read: ({ overload }) =>
      medianOf(overload.rounds, ({ overload: { memory } }) => Math.max(...memory.map(({ mb }) => mb))),
  },
  {
    figure: 'samples missing in the database after 200 %',
    part: 'overload',
    atMost: 0,
    read: ({ overload }) => Math.abs(overload.committed - overload.stored),
  },
  {
    figure: 'CPU of ingest against parsing, digest and encoding alone, 1x60',
    part: 'cost',
    atMost: 2.2,
    read: ({ cost }) =>
      atLoad(cost.loads, '1x60', ({ packed }) => Number(packed.cpu['ingest']) / Number(cost.least['1x60'])),
  },
  {
    figure: 'CPU of a message of one value as a map of sensors, against plain JSON, alone',
    part: 'cost',
    atMost: 1.2,
    read: ({ cost: { json } }) => (json ? median(json.map(({ plain, map }) => map / plain)) : Number.NaN),
  },
  {
    figure: 'CPU of ingest and database with latest against without, 1x60',
    part: 'cost',
    atMost: 1.2,
    read: ({ cost }) =>
      atLoad(cost.loads, '1x60', (results) => cpuOfBoth(results.packed) / cpuOfBoth(results['no-latest'])),
  },
  {
    figure: 'CPU of ingest and database with 100,000 sensors against 100',
    part: 'fleet',
    atMost: 1.15,
    read: ({ fleet }) =>
      medianOf(fleet, (results) => cpuOfBoth(results['100,000 sensors']) / cpuOfBoth(results['100 sensors'])),
  },
  side('latestAgainstRows', { atMost: 3 }),
  side('latestByStored', { atMost: SAME }),
  side('pageByStored', { atMost: SAME }),
  side('monthAgainstExport', { atLeast: 100 }),
  side('yearAgainstStatistics', { atMost: 1.5 }),
  {
    figure: 'memory of the HTTP process while it exports a month, and a year, MB',
    part: 'reading',
    atMost: 200,
    read: ({ reading: { rounds, longest } }) =>
      Math.max(longest.mb, ...rounds.map(({ results }) => results.monthExport.mb)),
  },
  onDisk('decimals', 'two decimals', 0.1),
  onDisk('full', 'full doubles', 0.5),
  {
    figure: 'thousand samples/s that an export as Parquet reads',
    part: 'files',
    atLeast: 2100,
    read: ({ files: { samples, out } }) => samples / out.seconds / 1000,
  },
  {
    figure: 'memory of the HTTP process that this export adds, MB',
    part: 'files',
    atMost: 60,
    read: ({ files: { before, out } }) => out.mb - before,
  },
  {
    figure: 'thousand samples/s that the import of a Parquet file stores',
    part: 'files',
    atLeast: 500,
    read: ({ files: { samples, first } }) => samples / first.seconds / 1000,
  },
  {
    figure: 'sensors at 1 Hz that packing keeps up with, next to half of the highest rate',
    part: 'packing',
    atLeast: 10_000,
    read: ({ packing }) => sensorsOf(packing.loaded),
  },
  ...['1x60', '4x10', '1x1'].map(whileStreaming),
  {
    figure: 'samples/s with 10,000 alarm rules against none',
    part: 'alarms',
    atLeast: 0.9,
    read: ({ alarms }) => medianOf(alarms.rounds, ({ none, rules }) => rules.rate / none.rate),
  },
  {
    figure: 'p99 from the commit of a sample to the webhook of its alarm at 50 %, ms',
    part: 'alarms',
    atMost: 300,
    read: ({ alarms }) => alarms.reports.p99,
  },
  {
    figure: 'p95 of the script time of a frame that had a processor, wall of 10,000 sensors, ms',
    part: 'dashboard',
    atMost: 5,
    read: ({ dashboard }) => dashboard.frames.cpuMs.p95,
  },
  {
    figure: 'tasks of an open wall that had a processor for more than 50 ms',
    part: 'dashboard',
    atMost: 0,
    read: ({ dashboard }) => dashboard.busy.length,
  },
  {
    figure: 'time until the first cells of the wall are visible, ms',
    part: 'dashboard',
    atMost: 1000,
    read: ({ dashboard }) => median(dashboard.first),
  },
  {
    figure: 'first contentful paint of the dashboard at 50 kB/s and 300 ms latency, ms',
    part: 'dashboard',
    atMost: 2000,
    read: ({ dashboard: { slow } }) => (slow ? median(slow) : Number.NaN),
  },
  ...firstView('57 sensors', 'dashboard'),
  ...firstView('2,000 devices', 'dashboard'),
  {
    figure: 'heap of an open wall, the last third of its time against the first',
    part: 'dashboard',
    atMost: 1.1,
    read: ({ dashboard }) => heapGrowth(dashboard.heap),
  },
  {
    figure: 'p99 of acknowledgements while a dashboard on 100,000 sensors opens, against without',
    part: 'opening',
    atMost: 2,
    read: ({ opening }) => medianOf(opening.rounds, ({ alone, opened }) => opened.p99 / alone.p99),
  },
  ...firstView('100,000 sensors', 'opening'),
];

function overRows(load: string, atLeast: number) {
  return {
    figure: `acknowledged samples/s against one row per sample, ${load}`,
    part: 'throughput' as const,
    atLeast,
    read: ({ throughput }: Required<Results>) =>
      atLoad(throughput, load, ({ packed, rows }) => packed.rate / rows.rate),
  };
}

function withoutMqtt(load: string) {
  return {
    figure: `behind Mosquitto against the same without MQTT, ${load}`,
    part: 'throughput' as const,
    atLeast: 0.9,
    read: ({ throughput }: Required<Results>) =>
      atLoad(throughput, load, ({ packed, loop }) => packed.rate / loop.rate),
  };
}

function whileStreaming(load: string) {
  return {
    figure: `acknowledged samples/s with streaming out to Kafka against without, ${load}`,
    part: 'streaming' as const,
    atLeast: 0.85,
    read: ({ streaming }: Required<Results>) =>
      atLoad(streaming, load, (results) => results.streaming.rate / results.none.rate),
  };
}

/** The first view of a new user, with all files and data. */
function firstView(fleet: string, part: 'dashboard' | 'opening') {
  const target = (unit: string, atMost: number, read: (weight: Weight) => number) => ({
    figure: `${unit} of the first view of the dashboard, ${fleet}`,
    part,
    atMost,
    read(results: Required<Results>) {
      const found = results[part].views?.find((view) => view.fleet === fleet);
      return found ? read(found.first) : Number.NaN;
    },
  });
  return [target('requests', 8, requestsOf), target('KB', 250, ({ kilobytes }) => kilobytes)];
}

/** The table has only targets that were measured. */
export function targetsTable(results: Partial<Results>): { head: string[]; rows: string[][] } {
  const rows = TARGETS.flatMap((target) => {
    if (results[target.part] === undefined) return [];
    const value = target.read(results as Required<Results>);
    if (Number.isNaN(value)) return [];
    const [wanted, holds] =
      'atLeast' in target
        ? [`${target.atLeast} or more`, value >= target.atLeast]
        : [`${target.atMost} or less`, value <= target.atMost];
    return [[target.figure, wanted, figure(value), holds ? 'yes' : 'no']];
  });
  return { head: ['figure', 'target', 'measured', 'holds'], rows };
}

function atLoad<Name extends string>(
  loads: Pick<Comparison<Name>, 'shape' | 'rounds'>[],
  load: string,
  read: (results: Record<Name, Rate>) => number,
): number {
  const found = loads.find(({ shape }) => shape === load);
  return found ? medianOf(found.rounds, read) : Number.NaN;
}

function side<L extends { atMost: number } | { atLeast: number }>(name: keyof typeof RATIOS, limit: L) {
  const { label, ratio } = RATIOS[name];
  return {
    figure: label,
    part: 'reading' as const,
    ...limit,
    read: ({ reading }: Required<Results>) => medianOf(reading.rounds, ratio),
  };
}

function onDisk(signal: SignalKind, label: string, atMost: number) {
  return {
    figure: `bytes a sample in history, against one row per sample on disk, ${label}`,
    part: 'disk' as const,
    atMost,
    read: ({ disk }: Required<Results>) =>
      median(disk.filter((one) => one.signal === signal).map(({ history, rows }) => history / rows)),
  };
}
