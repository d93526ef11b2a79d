import type { Zone } from '../../format.ts';
import { deviceCount } from '../../state/fleet-state.ts';
import './pipeline.css';
import type { StreamStatus } from '../../api/stream/index.ts';
import type { FleetInfo, ProcessHealth } from '../../api/types.ts';
import { formatClock, formatCount, formatCounted, formatDuration, NOTHING, UTC } from '../../format.ts';
import { formatBytes } from '../shared/bytes.ts';
import type { Pipeline, Stats, StreamOut } from './api.ts';
import type { Finding, StageName } from './findings.tsx';
import { formatMs, formatRate } from './format.ts';
import { LATE_MS } from './verdict.ts';

/** Renders the data path from device to stream client. Moving marks show the sample rate, and each stage shows its finding. */
export function DataPath({
  findings,
  isOld,
  ...known
}: Parameters<typeof stagesOf>[0] & {
  findings: Finding[];
  /** whether the figures are the last known ones, so that nothing is confirmed as fine */
  isOld: boolean;
}) {
  const flow = isOld ? null : flowSeconds(known.stats?.samples_per_s ?? 0);
  return (
    <ol class="way" aria-label="Data path">
      {stagesOf(known).map((stage) => (
        <Stage key={stage.name} {...stage} isOld={isOld} flow={flow} finding={worst(findings, stage.name)} />
      ))}
    </ol>
  );
}

function worst(findings: Finding[], name: StageName): Finding | undefined {
  const here = findings.filter(({ stage }) => stage === name);
  return here.find(({ tone }) => tone === 'bad') ?? here[0];
}

interface Figure {
  label: string;
  value: string;
  unit?: string;
  /** meaning of the figure, shown as a tooltip */
  title?: string;
  tone?: 'warn' | undefined;
}

/** SVG paths of the signs of the stages, in 24 by 24 units. */
const SIGNS: Record<StageName, string> = {
  devices: 'M8 3h8v18H8ZM11 18h2M4 8.5a6 6 0 0 0 0 7M20 8.5a6 6 0 0 1 0 7',
  broker: 'M12 4v16M4 8h8M12 12h8M4 16h8M4 6v4M20 10v4M4 14v4',
  ingest: 'M4 5h16l-6 7v7l-4-2v-5Z',
  database: 'M5 6.5c0-3.3 14-3.3 14 0s-14 3.3-14 0v11c0 3.3 14 3.3 14 0v-11M5 12c0 3.3 14 3.3 14 0',
  stream: 'M3 7h9M3 12h13M3 17h9M14 4l7 8-7 8',
  readers: 'M3 5h18v11H3ZM9 20h6M12 16v4M6 13l3.500-4 3 2.500L17 8',
};

const Stage = ({
  name,
  title,
  fine,
  figures,
  isOld,
  flow,
  finding,
}: {
  name: StageName;
  title: string;
  fine: string;
  figures: Figure[];
  isOld: boolean;
  /** time in seconds in which a mark moves to the next stage; null: nothing flows */
  flow: number | null;
  /** the most severe finding of the stage; undefined: the stage has no finding */
  finding: Finding | undefined;
}) => (
  <li class="stage" data-tone={finding?.tone} data-stage={name}>
    <svg
      class="stage-pipe"
      aria-hidden="true"
      data-flows={flow !== null && finding?.tone !== 'bad'}
      style={{ '--flow': `${flow ?? 0}s` }}
    >
      <line class="pipe-across" x1="0" y1="50%" x2="100%" y2="50%" />
      <line class="pipe-flow pipe-across" x1="0" y1="50%" x2="100%" y2="50%" />
      <line class="pipe-down" x1="50%" y1="0" x2="50%" y2="100%" />
      <line class="pipe-flow pipe-down" x1="50%" y1="0" x2="50%" y2="100%" />
    </svg>
    <span class="stage-sign" aria-hidden="true">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={SIGNS[name]} />
      </svg>
    </span>
    <div class="stage-text">
      <h2>{title}</h2>
      <p class="stage-fine small">
        {finding ? (
          <strong class="stage-wrong">
            {finding.tone === 'bad' ? '✕' : '!'} {finding.short}
          </strong>
        ) : (
          <>
            {fine && !isOld && '✓ '}
            {fine}
          </>
        )}
      </p>
      <dl>
        {figures.map(({ label, value, unit, title: meaning, tone }) => (
          <div key={label} title={meaning} data-tone={tone}>
            <dt>{label}</dt>
            <dd>
              <span class="stage-value">{value}</span>
              {unit && (
                <>
                  {' '}
                  <span class="stage-unit small">{unit}</span>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  </li>
);

/** Time in seconds in which a mark moves to the next stage: slowest at one sample per second, fastest at 10,000 (four decades). */
const SLOWEST_S = 3;
const FASTEST_S = 0.6;
const DECADES = 4;
/** Rounding step in seconds of the time in which a mark moves. The step is coarse, because each change of speed is a visible jump. */
const STEP_S = 0.4;

/**
 * @returns time in seconds in which a mark moves to the next stage; null: nothing flows. The scale is logarithmic, so that
 *   marks move visibly for a few devices and for a whole fleet
 */
export function flowSeconds(perSecond: number): number | null {
  if (!(perSecond > 0)) return null;
  const share = Math.min(Math.max(Math.log10(perSecond) / DECADES, 0), 1);
  const seconds = SLOWEST_S - share * (SLOWEST_S - FASTEST_S);
  return Math.round(Math.round(seconds / STEP_S) * STEP_S * 10) / 10;
}

type StageText = Omit<Parameters<typeof Stage>[0], 'isOld' | 'flow' | 'finding'>;

/** @returns stages in the order of the data path */
function stagesOf({
  pipeline,
  stats,
  health,
  fleet,
  status,
  zone = UTC,
}: {
  pipeline: Pipeline | null;
  stats: Stats | null;
  health: ProcessHealth[];
  fleet: FleetInfo | null;
  status: StreamStatus;
  zone?: Zone;
}): StageText[] {
  const running = pipeline?.processes.filter(({ stale }) => !stale) ?? null;
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
  fine: fleet ? `${formatCount(deviceCount(fleet))} registered` : '',
  figures: [
    {
      label: 'Online',
      value: formatCount(fleet?.devices.online),
      title: 'Devices that announced themselves or sent a message within 5 minutes',
    },
    { label: 'Offline', value: formatCount(fleet?.devices.offline) },
    {
      label: 'Not live',
      value: formatCount(fleet?.devices.not_live),
      title: 'Devices that announced no state, and sent nothing for 5 minutes',
    },
  ],
});

const broker = (pipeline: Pipeline | null): StageText => ({
  name: 'broker',
  title: 'Broker',
  fine: pipeline?.broker?.ok ? pipeline.broker.message : '',
  figures: [
    {
      label: 'Connection of ingest',
      value: pipeline?.broker ? (pipeline.broker.ok ? 'Connected' : 'Disconnected') : NOTHING,
      title: 'Whether ingest is connected to the broker and receives what devices publish',
    },
  ],
});

/** @returns text with the number of processes whose role is not `without`; empty until the processes are known */
const processCount = (
  running: Pipeline['processes'] | null,
  without: 'http' | 'ingest',
  [one, many]: [one: string, many: string],
): string => (running ? formatCounted(running.filter(({ role }) => role !== without).length, one, many) : '');

function ingest(
  running: Pipeline['processes'] | null,
  stats: Stats | null,
  health: ProcessHealth[],
): StageText {
  const messages = health.reduce((sum, { unsettled }) => sum + unsettled.messages, 0);
  const oldestMs = Math.max(0, ...health.map(({ unsettled }) => unsettled.oldest_ms));
  const isLate = health.some(({ unsettled }) => unsettled.oldest_ms >= LATE_MS);
  return {
    name: 'ingest',
    title: 'Ingest',
    fine: processCount(running, 'http', ['process', 'processes']),
    figures: [
      {
        label: 'Stored',
        value: formatRate(stats?.samples_per_s),
        unit: 'samples/s',
        title: 'Measurements committed each second, over the last five seconds',
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
        title:
          'The number of requests that may be in flight now, and the highest number (INGEST_MAX_IN_FLIGHT)',
      },
      {
        label: 'Messages wait',
        value: health.length > 0 ? formatCount(messages) : NOTHING,
        ...(oldestMs >= 1000 && { unit: `oldest ${formatDuration(oldestMs)}` }),
        title: 'Messages that were received, and are not acknowledged yet',
        tone: isLate ? 'warn' : undefined,
      },
      {
        label: 'Requests wait',
        value: formatCount(stats?.waiting),
        title: 'Requests to the database that wait for a place in the window',
        tone: stats?.waiting ? 'warn' : undefined,
      },
      ...(stats?.journal_ms
        ? [
            {
              label: 'Journal',
              value: formatDuration(stats.journal_ms),
              title:
                'Age of the oldest acknowledged sample whose row is not written yet. While the database is busy, small messages share rows of a journal. Other processes see such samples when their rows are written, within 30 s.',
            },
          ]
        : []),
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

const streamOut = ({ ok, lag_ms, queue_bytes, until }: StreamOut, zone: Zone): StageText => ({
  name: 'stream',
  title: 'Stream out',
  fine: ok ? 'Kafka takes records' : '',
  figures: [
    {
      label: 'Lag',
      value: formatDuration(lag_ms),
      title: 'Age of the committed block that waits longest for Kafka',
      tone: ok ? undefined : 'warn',
    },
    { label: 'Queue', value: formatBytes(queue_bytes), title: 'Bytes that wait for Kafka' },
    {
      label: 'Complete until',
      value: until === null ? NOTHING : formatClock(Date.parse(until), zone),
      title: 'All samples of earlier hours are in Kafka. One to two hours ago is normal',
    },
  ],
});

function readers(
  running: Pipeline['processes'] | null,
  stats: Stats | null,
  status: StreamStatus,
): StageText {
  return {
    name: 'readers',
    title: 'Readers',
    fine: processCount(running, 'ingest', ['process serves', 'processes serve']),
    figures: [
      {
        label: 'Connection of this page',
        value: { live: 'Live', connecting: 'Connecting', reconnecting: 'Reconnecting', paused: 'Paused' }[
          status
        ],
        title: 'Whether changes reach this page by themselves',
      },
      {
        label: 'Readers of the stream',
        value: formatCount(stats?.readers),
        title: 'Browsers and programs that receive changes by themselves. All tabs of a browser count as one',
      },
    ],
  };
}
