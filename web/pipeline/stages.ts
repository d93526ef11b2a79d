import type { StreamStatus } from '../api/stream.ts';
import type { FleetInfo, Pipeline, ProcessHealth, Stats, StreamOut } from '../api/types.ts';
import {
  formatBytes,
  formatClock,
  formatCount,
  formatCounted,
  formatDuration,
  formatMs,
  formatRate,
  NOTHING,
} from '../format.ts';
import { LATE_MS } from '../state/verdict.ts';
import type { Stage } from './data-path.tsx';

/** Text and figures of each stage of the data path. */
type StageText = Omit<Parameters<typeof Stage>[0], 'flow' | 'finding'>;

/** @returns in the order of the data path */
export function stagesOf({
  pipeline,
  stats,
  health,
  fleet,
  status,
  zone = 'utc',
}: {
  pipeline: Pipeline | null;
  stats: Stats | null;
  /** of each process, by the last event */
  health: ProcessHealth[];
  fleet: FleetInfo | null;
  /** of this page's connection */
  status: StreamStatus;
  /** of times, default UTC */
  zone?: 'local' | 'utc';
}): StageText[] {
  const running = pipeline?.processes.filter(({ stale }) => !stale) ?? [];
  return [
    devices(fleet),
    broker(pipeline),
    ingest(running, stats, health),
    database(pipeline, stats),
    ...(pipeline?.stream_out ? [streamOut(pipeline.stream_out, zone)] : []),
    readers(running, stats, status),
  ];
}

const devices = (fleet: FleetInfo | null): StageText => ({
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

const broker = (pipeline: Pipeline | null): StageText => ({
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

function ingest(running: Pipeline['processes'], stats: Stats | null, health: ProcessHealth[]): StageText {
  const messages = health.reduce((sum, { unsettled }) => sum + unsettled.messages, 0);
  const isLate = health.some(({ unsettled }) => unsettled.oldest_ms >= LATE_MS);
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
        label: 'Messages wait',
        value: health.length > 0 ? formatCount(messages) : NOTHING,
        title: 'Messages that were received, and are not acknowledged yet',
        tone: isLate ? 'warn' : undefined,
      },
      {
        label: 'Requests wait',
        value: formatCount(stats?.waiting),
        title: 'Requests to the database that wait for a place in the window',
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

function database(pipeline: Pipeline | null, stats: Stats | null): StageText {
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

const streamOut = ({ ok, lag_ms, queue_bytes, until }: StreamOut, zone: 'local' | 'utc'): StageText => ({
  name: 'stream',
  title: 'Stream out',
  fine: ok ? 'Kafka takes records' : '',
  figures: [
    {
      label: 'Lag',
      value: formatDuration(lag_ms),
      title: 'Age of what was committed and waits longest for Kafka',
      tone: ok ? undefined : 'warn',
    },
    { label: 'Queue', value: formatBytes(queue_bytes), title: 'Bytes that wait for Kafka' },
    {
      label: 'Complete until',
      value: until === null ? NOTHING : formatClock(Date.parse(until), zone),
      title: 'Everything of the hours before it is in Kafka; one to two hours ago is normal',
    },
  ],
});

function readers(running: Pipeline['processes'], stats: Stats | null, status: StreamStatus): StageText {
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
