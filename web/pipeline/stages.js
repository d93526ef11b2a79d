import { formatCount, formatCounted, formatMs, formatRate, NOTHING } from '../format.js';

/** @import { StreamStatus } from '../api/stream.js' */
/** @import { FleetInfo, Pipeline, Stats } from '../api/types.js' */
/** @import { Stage } from './data-path.js' */

/**
 * Text and figures of each stage of the data path.
 *
 * @typedef {Omit<Parameters<typeof Stage>[0], 'flow' | 'finding'>} StageText
 */

/**
 * @param {object} known
 * @param {Pipeline | null} known.pipeline
 * @param {Stats | null} known.stats
 * @param {FleetInfo | null} known.fleet
 * @param {StreamStatus} known.status of this page's connection
 * @returns {StageText[]} in the order of the data path
 */
export function stagesOf({ pipeline, stats, fleet, status }) {
  const running = pipeline?.processes.filter(({ stale }) => !stale) ?? [];
  return [
    devices(fleet),
    broker(pipeline),
    ingest(running, stats),
    database(pipeline, stats),
    readers(running, stats, status),
  ];
}

/** @param {FleetInfo | null} fleet @returns {StageText} */
const devices = (fleet) => ({
  name: 'devices',
  title: 'Devices',
  fine: fleet ? `${formatCount(fleet.devices.online + fleet.devices.offline)} registered` : '',
  figures: [
    {
      label: 'Online',
      value: formatCount(fleet?.devices.online),
      title: 'Devices that announced themselves or sent a message within 5 minutes',
    },
    { label: 'Offline', value: formatCount(fleet?.devices.offline) },
  ],
});

/** @param {Pipeline | null} pipeline @returns {StageText} */
const broker = (pipeline) => ({
  name: 'broker',
  title: 'Broker',
  fine: pipeline?.broker?.ok ? pipeline.broker.message : '',
  figures: [
    {
      label: 'Ingest is',
      value: pipeline?.broker ? (pipeline.broker.ok ? 'Connected' : 'Disconnected') : NOTHING,
      title: 'Whether what devices publish reaches ingest',
    },
  ],
});

/** @param {Pipeline['processes']} running @param {Stats | null} stats @returns {StageText} */
function ingest(running, stats) {
  const ingestProcesses = running.filter(({ role }) => role !== 'http').length;
  return {
    name: 'ingest',
    title: 'Ingest',
    fine: formatCounted(ingestProcesses, 'process', 'processes'),
    figures: [
      {
        label: 'Stored',
        value: formatRate(stats?.samples_per_s),
        unit: 'samples/s',
        title: 'Measurements that were committed, a second, over the last five seconds',
      },
      {
        label: 'In flight',
        value: formatCount(stats?.in_flight),
        title: 'Requests to the database on their way',
      },
      {
        label: 'Window',
        value: formatCount(stats?.window),
        unit: `of ${formatCount(stats?.window_limit)}`,
        title: 'How many requests may be in flight now, of how many at most (INGEST_MAX_IN_FLIGHT)',
      },
      {
        label: 'Waiting',
        value: formatCount(stats?.waiting),
        title: 'Requests that wait for a place in the window',
        tone: stats?.waiting ? 'warn' : undefined,
      },
      {
        label: 'Refused',
        value: formatRate(stats?.refused_per_s),
        unit: '/s',
        title: 'Measurements that became dead letters',
        tone: stats?.refused_per_s ? 'warn' : undefined,
      },
    ],
  };
}

/** @param {Pipeline | null} pipeline @param {Stats | null} stats @returns {StageText} */
function database(pipeline, stats) {
  const nodes = pipeline?.database.nodes ?? [];
  return {
    name: 'database',
    title: 'Database',
    fine:
      nodes.length > 0
        ? `${nodes.filter(({ up }) => up).length} of ${formatCounted(nodes.length, 'node')} up`
        : '',
    figures: [
      {
        label: 'Commit p50',
        value: formatMs(stats?.commit_ms.p50),
        unit: 'ms',
        title: 'From the receipt of a message to its commit: half of them are quicker',
      },
      {
        label: 'Commit p99',
        value: formatMs(stats?.commit_ms.p99),
        unit: 'ms',
        title: 'Of a hundred messages, 99 are quicker',
      },
    ],
  };
}

/** @param {Pipeline['processes']} running @param {Stats | null} stats @param {StreamStatus} status @returns {StageText} */
function readers(running, stats, status) {
  const servers = running.filter(({ role }) => role !== 'ingest').length;
  return {
    name: 'readers',
    title: 'Readers',
    fine: formatCounted(servers, 'process serves', 'processes serve'),
    figures: [
      {
        label: 'This page',
        value: { live: 'Live', connecting: 'Connecting', reconnecting: 'Reconnecting' }[status],
        title: 'Whether changes reach this page by themselves',
      },
      {
        label: 'Follow the stream',
        value: formatCount(stats?.readers),
        title: 'Pages and programs that receive changes by themselves, including this page',
      },
    ],
  };
}
