import { assetTablesOf, type Fleet, ratesOf, tablesOf } from '../../schema/sizes.ts';
import { windowFor } from '../../schema/time-window.ts';

const BENCH = '[benchmarks](benchmarks.md), 2026-11-26';
const OLDER_BENCH = 'a part that the bench no longer has, 2026-11-26';

/** A measurement or another project states the numbers. */
const constant = <V extends Record<string, number>>(label: string, values: V, source: string = BENCH) => ({
  label,
  values,
  source,
});

/** The constants that the manual shows. A test compares the first three with the benchmarks. */
export const CONSTANTS = {
  ingest: constant('CPU of ingest, µs', { message: 91, sensor: 3.4, sample: 0.5 }),
  database: constant('CPU of the database, µs', { message: 109, sensor: 2.2, sample: 0.69 }),
  broker: constant('CPU of Mosquitto, µs', { message: 27, sensor: 0, sample: 0.095 }),
  packing: constant(
    'hours of sensors that a process packs in a second',
    { alone: 222, loaded: 57.5 },
    OLDER_BENCH,
  ),
  decimals: constant('disk / calculated, decimals', { messages: 0.56, history: 0.89, statistics: 0.5 }),
  full: constant('disk / calculated, full doubles', { messages: 0.97, history: 4.9, statistics: 0.75 }),
  busy: constant('share in use at most', { cores: 0.5, disks: 0.7 }, 'our choice'),
  packAhead: constant('packing / closing of hours', { times: 2 }, 'our choice, to catch up after a pause'),
  cluster: constant(
    'smallest cluster, and its steps',
    { nodes: 3 },
    'one node in each of three racks: infra/terraform, infra/kubernetes',
  ),
  license: constant(
    'free under the license of ScyllaDB',
    { vcpus: 50, terabytes: 10 },
    'https://www.scylladb.com/source-available-faq, read in November 2026',
  ),
};

/**
 * EC2 types that infra/terraform accepts, with their vCPUs and their local disks in bytes.
 * Source: https://docs.aws.amazon.com/ec2/latest/instancetypes/so.html
 */
export const NODES: Record<string, { vcpus: number; diskBytes: number }> = Object.fromEntries(
  ['i7i', 'i8g'].flatMap((family) =>
    [1, 2, 4, 8, 16].map((size) => [
      `${family}.${size === 1 ? '' : size}xlarge`,
      { vcpus: 4 * size, diskBytes: Math.floor(937.5 * size) * 1e9 },
    ]),
  ),
);

export interface Plan {
  fleet: Fleet;
  /** of the tree; `types`: of sensors below an asset, on average */
  tree: { assets: number; types: number };
  signal: 'decimals' | 'full';
  /** copies of all data */
  replication: number;
  node: { vcpus: number; diskBytes: number };
}

export const samplesPerMessage = ({ intervalMs, batchMs }: Fleet): number =>
  Math.max(1, Math.round(Math.max(intervalMs, batchMs) / intervalMs));

/** A multiple of the retention. The oldest row stays until its whole time window has expired: one window longer than the retention. */
export const retentionFactor = (days: number): number => (days + windowFor(days).windowDays) / days;

/** µs. @param message `samples`: number of samples of each sensor */
export const messageCost = (
  cost: { message: number; sensor: number; sample: number },
  { sensors, samples }: { sensors: number; samples: number },
): number => cost.message + cost.sensor * sensors + cost.sample * sensors * samples;

/** Rates per second, cores, and bytes. */
export function needsOf({ fleet, tree, signal, replication, node }: Plan) {
  const { ingest, database, broker, packing, packAhead, cluster, busy } = CONSTANTS;
  const { samples, messages, packedHours } = ratesOf(fleet);
  const shape = { sensors: fleet.sensorsPerDevice, samples: samplesPerMessage(fleet) };
  // In the benchmark, packing shared two cores: one core of ingest, and one core of the database.
  const packed = packedHours / packing.values.alone;
  const quorum = Math.floor(replication / 2) + 1;
  // In the worst case each message reads its device from the registry, which costs as much as a message.
  const cores = {
    ingest: (messages * (messageCost(ingest.values, shape) + ingest.values.message)) / 1e6 + packed,
    database:
      ((messages * messageCost(database.values, shape)) / 1e6 + packed) * replication +
      (messages * database.values.message * quorum) / 1e6,
    broker: (messages * messageCost(broker.values, shape)) / 1e6,
  };
  const share = CONSTANTS[signal].values;
  const [batches, history] = [retentionFactor(fleet.batchDays), retentionFactor(fleet.historyDays)];
  const { message, history: hours, history_stat: statistics, ...others } = tablesOf(fleet);
  const rest = Object.values(others);
  const { asset_change: log, asset_stat: rollUps } = assetTablesOf(fleet, tree);
  const bytes =
    message.bytes * batches * share.messages +
    (hours.bytes * share.history + statistics.bytes * share.statistics) * history +
    log.bytes +
    rollUps.bytes * history +
    rest.reduce((sum, table) => sum + table.bytes, 0);
  const partitions =
    message.partitions * batches +
    hours.partitions * history +
    statistics.partitions +
    log.partitions +
    rollUps.partitions +
    rest.reduce((sum, table) => sum + table.partitions, 0);
  const byCpu = Math.ceil(cores.database / (node.vcpus * busy.values.cores));
  const byDisk = Math.ceil((bytes * replication) / (node.diskBytes * busy.values.disks));
  const packers = (packedHours * packAhead.values.times) / packing.values.loaded;
  const step = cluster.values.nodes;
  return {
    samples,
    messages,
    cores,
    processes: Math.ceil(Math.max(cores.ingest / busy.values.cores, packers)),
    brokers: Math.ceil(cores.broker / busy.values.cores),
    partitions,
    bytes,
    rollUpBytes: rollUps.bytes * history,
    byCpu,
    byDisk,
    nodes: step * Math.ceil(Math.max(byCpu, byDisk) / step),
  };
}
