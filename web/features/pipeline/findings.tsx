import type { Problem } from '../../api/request.ts';
import { problemWords } from '../../api/request.ts';
import type { ProcessHealth } from '../../api/types.ts';
import { formatAge, formatCount, formatCounted, formatDuration } from '../../format.ts';
import { useFeatures } from '../../kit/slots.tsx';
import { useAgeOfValues } from '../../kit/verdict.tsx';
import type { Measurements, Pipeline, Stats } from './api.ts';
import { formatRate } from './format.ts';
import { BEHIND_MS, packingOf } from './processes.tsx';
import type { DetailedVerdict } from './verdict.ts';

export type StageName = 'devices' | 'broker' | 'ingest' | 'database' | 'stream' | 'readers';

export interface Finding {
  stage: StageName;
  /** severity; `bad`: a part of the data path has stopped */
  tone: 'bad' | 'warn';
  short: string;
  title: string;
  advice: string;
  /** whether a feature may explain the refused measurements */
  isOfRefusals?: boolean;
}

/** @returns findings in the order of the data path */
export function findingsOf({
  pipeline,
  problem,
  stats,
  health = [],
  now,
}: {
  /** last known state of the pipeline; null: unknown yet */
  pipeline: Pipeline | null;
  problem: Problem | null;
  stats: Stats | null;
  health?: ProcessHealth[];
  now: number;
}): Finding[] {
  // The last known state is no evidence of the present one.
  const known = problem ? null : pipeline;
  return [
    ...(problem ? [unanswered(problem)] : []),
    ...(known ? [...brokerFindings(known), ...processFindings(known, health, now)] : []),
    ...(stats ? [...pressureFindings(stats), ...refusalFindings(stats)] : []),
    ...(known
      ? [
          ...countFindings(known),
          ...nodeFindings(known),
          ...packingFindings(known, now),
          ...streamFindings(known, now),
        ]
      : []),
  ];
}

function unanswered(problem: Problem): Finding {
  const { title, advice } = problemWords(problem);
  const isDatabase = problem.code === 'unavailable';
  return {
    stage: isDatabase ? 'database' : 'readers',
    tone: 'bad',
    short: isDatabase ? 'does not answer' : 'no answer',
    title,
    advice,
  };
}

function brokerFindings({ broker }: Pipeline): Finding[] {
  if (!broker || broker.ok) return [];
  return [
    {
      stage: 'broker',
      tone: 'bad',
      short: 'not connected',
      title: `The broker is out of reach: ${broker.message}`,
      advice:
        'Messages wait at the broker or with the devices. Ingest connects again by itself. Check that the broker runs, and MQTT_URL.',
    },
  ];
}

function processFindings({ processes }: Pipeline, health: ProcessHealth[], now: number): Finding[] {
  const findings: Finding[] = [];
  // After an outage, the stored heartbeats are old for a moment, but the processes report to this page.
  const reporting = new Set(health.map(({ client_id }) => client_id));
  const isSilent = ({ client_id, stale }: Pipeline['processes'][number]) =>
    stale && !reporting.has(client_id);
  if (!processes.some((process) => process.role !== 'http' && !isSilent(process))) {
    findings.push({
      stage: 'ingest',
      tone: 'bad',
      short: 'none runs',
      title: 'No process takes measurements',
      advice: 'Start one with npm start. It then stores the messages that wait at an external broker.',
    });
  }
  for (const { client_id, role, seen } of processes.filter(isSilent)) {
    findings.push({
      stage: role === 'http' ? 'readers' : 'ingest',
      tone: 'warn',
      short: 'a process is silent',
      title: `${client_id} has sent no heartbeat for ${formatAge(now - Date.parse(seen))}`,
      advice: 'It died, or cannot reach the database. It leaves this list after an hour.',
    });
  }
  return findings;
}

function pressureFindings({ waiting, window }: Stats): Finding[] {
  if (waiting === 0) return [];
  return [
    {
      stage: 'ingest',
      tone: 'warn',
      short: 'under pressure',
      title: `Under pressure: ${formatCounted(waiting, 'request waits', 'requests wait')} for a place among ${formatCount(window)}`,
      advice:
        'More messages arrive than the database can store at this latency. They wait unacknowledged, and are not lost.',
    },
  ];
}

function refusalFindings({ refused_per_s }: Stats): Finding[] {
  if (refused_per_s === 0) return [];
  return [
    {
      stage: 'ingest',
      tone: 'warn',
      short: 'refuses some',
      title: `Measurements are refused: ${formatRate(refused_per_s)} a second`,
      advice: 'Each is kept, with the reason.',
      isOfRefusals: true,
    },
  ];
}

function countFindings({ measurements }: Pipeline): Finding[] {
  const missing = unaccounted(measurements);
  if (missing === 0) return [];
  return [
    {
      stage: 'ingest',
      tone: 'bad',
      short: 'counts differ',
      title: `${formatCounted(Math.abs(missing), 'measurement is', 'measurements are')} ${missing > 0 ? 'unaccounted for' : 'counted twice'}`,
      advice: 'This is a defect of Millrace. Please report it with the figures below.',
    },
  ];
}

/** @returns number of received measurements whose outcome is not counted; negative: some measurements are counted twice */
const unaccounted = ({ received, stored, merged, refused, skipped }: Measurements): number =>
  received - stored - merged - refused - skipped;

function nodeFindings({ database: { nodes } }: Pipeline): Finding[] {
  const down = nodes.filter(({ up }) => !up);
  if (down.length === 0) return [];
  const isAll = down.length === nodes.length;
  return [
    {
      stage: 'database',
      tone: isAll ? 'bad' : 'warn',
      short: isAll ? 'all nodes are down' : `${down.length} of ${formatCounted(nodes.length, 'node')} down`,
      title: `${isAll ? 'All nodes' : `${down.length} of ${formatCounted(nodes.length, 'node')}`} of the database ${down.length === 1 ? 'is' : 'are'} down: ${down.map(({ address }) => address).join(', ')}`,
      advice: isAll
        ? 'Nothing is acknowledged until a node is back. Nothing is lost.'
        : 'With three replicas, two are enough for reads and writes. Repair the node after it is back.',
    },
  ];
}

function packingFindings({ packed_until }: Pipeline, now: number): Finding[] {
  const { behindMs } = packingOf(packed_until, now);
  if (behindMs < BEHIND_MS) return [];
  return [
    {
      stage: 'database',
      tone: 'warn',
      short: 'packing is behind',
      title: `Packing is ${formatDuration(behindMs)} behind`,
      advice:
        'Packing rests while ingest is under pressure, and catches up later. Charts stay exact, but long ones are slower.',
    },
  ];
}

/** Age of the Kafka watermark in ms from which it is a problem. An age of one to two hours is normal. */
const WATERMARK_LATE_MS = 4 * 3_600_000;

function streamFindings({ stream_out: state }: Pipeline, now: number): Finding[] {
  if (!state) return [];
  if (!state.ok) {
    return [
      {
        stage: 'stream',
        tone: 'warn',
        short: 'Kafka is away',
        title: `Kafka takes no records; the oldest waits for ${formatDuration(state.lag_ms)}`,
        advice:
          'Ingest goes on, and nothing is lost. If the queue is full, records are sent after their hour has closed.',
      },
    ];
  }
  const lateMs = state.until === null ? 0 : now - Date.parse(state.until);
  if (lateMs < WATERMARK_LATE_MS) return [];
  return [
    {
      stage: 'stream',
      tone: 'warn',
      short: 'watermark is late',
      title: `Kafka is complete until ${formatDuration(lateMs)} ago`,
      advice: 'Consumers that wait for the watermark get nothing new. The log of ingest has the reason.',
    },
  ];
}

export function Findings({ findings }: { findings: Finding[] }) {
  const refusalsHref = useFeatures().find((feature) => feature.refusalsHref)?.refusalsHref;
  return (
    <ul class="findings" aria-label="What needs a look">
      {findings.map(({ title, tone, advice, isOfRefusals }) => (
        <li key={title} class="finding" data-tone={tone}>
          <span class="finding-sign" aria-hidden="true">
            {tone === 'bad' ? '✕' : '!'}
          </span>
          <p>
            <strong>{title}.</strong> {advice}{' '}
            {isOfRefusals && refusalsHref && (
              <a class="link" href={refusalsHref}>
                See them
              </a>
            )}
          </p>
        </li>
      ))}
    </ul>
  );
}

/** Renders the first line of the pipeline page: the verdict, or the most severe finding. */
export function VerdictLead({
  verdict,
  findings,
  isKnown,
}: {
  verdict: DetailedVerdict;
  findings: Finding[];
  isKnown: boolean;
}) {
  const { tone, text, advice } = leadOf({ verdict, findings, isKnown });
  const age = useAgeOfValues();
  return (
    <div class="verdict-lead" data-tone={tone}>
      {/* A duration that changes each second is not announced. The header announces the problem. */}
      <p class="verdict" data-tone={tone} role={verdict.level === 'good' ? 'status' : undefined}>
        {text}
      </p>
      {(advice || age) && <p>{[advice, age].join(' ').trim()}</p>}
      {verdict.details.length > 0 && (
        <ul aria-label="Processes with a problem">
          {verdict.details.map((detail) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** @returns the most severe finding, which the first line of the page reports, so that no other line repeats it */
export const causeOf = (findings: Finding[]): Finding | undefined =>
  findings.find(({ tone }) => tone === 'bad');

/** Returns the text of the first line of the pipeline page, and advice. */
export function leadOf({
  verdict: { level, headline },
  findings,
  isKnown,
}: {
  verdict: DetailedVerdict;
  findings: Finding[];
  isKnown: boolean;
}): { tone: 'bad' | 'warn' | 'good' | undefined; text: string; advice?: string } {
  const cause = causeOf(findings);
  const advice = cause && { advice: cause.advice };
  if (level === 'critical') return { tone: 'bad', text: `✕ ${headline}`, ...advice };
  if (cause) return { tone: 'bad', text: `✕ ${cause.title}.`, ...advice };
  if (level === 'warning') return { tone: 'warn', text: `! ${headline}` };
  if (findings.length > 0) {
    return { tone: 'warn', text: `! ${formatCounted(findings.length, 'thing needs', 'things need')} a look` };
  }
  return isKnown ? { tone: 'good', text: '✓ All is well' } : { tone: undefined, text: 'Looking…' };
}
