import { useCallback, useEffect, useState } from 'preact/hooks';
import { toProblem } from '../../api/request.ts';
import { formatCount } from '../../format.ts';
import { ProblemNotice } from '../../kit/notice.tsx';
import { useServices, useTitle } from '../../state/hooks.ts';
import { useFiguresAlone } from '../../state/live.ts';
import { useStale, useVerdictBy } from '../../state/verdict.ts';
import { readPipeline } from './api.ts';
import { DataPath } from './data-path.tsx';
import { causeOf, Findings, findingsOf, VerdictLead } from './findings.tsx';
import { formatMs, formatRate } from './format.ts';
import { useRecentStats } from './moments.ts';
import { MeasurementCounts, ProcessTable, Storage } from './processes.tsx';
import { StripChart } from './strip-chart.tsx';
import { verdictOf } from './verdict.ts';
import '../../chart/chart.css';
import '../shared/tables.css';
import './pipeline.css';
import type { Problem } from '../../api/request.ts';
import type { StripLine } from './strip-chart.tsx';

const RATE: StripLine[] = [{ name: 'stored', read: (moment) => moment.samples_per_s }];
const COMMIT: StripLine[] = [
  { name: 'p50', read: (moment) => moment.commit_ms.p50 },
  { name: 'p99', read: (moment) => moment.commit_ms.p99 },
];
const REQUESTS: StripLine[] = [
  { name: 'in flight', read: (moment) => moment.in_flight },
  { name: 'window', read: (moment) => moment.window },
];

export function PipelineView() {
  const { clock, live, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const now = clock.time.value;
  const status = live.status.value;
  const { processes: health } = live.health.value;
  const verdict = useVerdictBy(verdictOf);
  const { data: pipeline, problem } = usePipeline();
  const fleet = useFleetCount();
  const moments = useRecentStats();
  useFiguresAlone();
  useTitle('Pipeline');
  const stats = moments.at(-1) ?? null;
  const isStale = useStale() !== null;
  const isOld = isStale || problem !== null;
  const findings = findingsOf({ pipeline, problem, stats, health, now });
  const others = findings.filter((finding) => finding !== causeOf(findings));

  // A missing permission replaces the view. Other problems may be temporary, so the last figures stay.
  if (problem && !problem.isTemporary)
    return <ProblemNotice problem={problem} onRetry={() => location.reload()} />;
  return (
    <>
      <div class="title">
        <div>
          <h1>Pipeline</h1>
          <p class="lead">From device to reader: what runs, how fast, and what slows it down.</p>
        </div>
      </div>
      <VerdictLead verdict={verdict} findings={findings} isKnown={pipeline !== null} />
      {others.length > 0 && <Findings findings={others} />}
      <section class="panel" aria-label="Data path" aria-busy={pipeline === null} data-stale={isOld}>
        <DataPath {...{ isOld, pipeline, stats, health, fleet, status, zone, findings }} />
      </section>
      <div class="strips" data-stale={isStale}>
        <StripChart title="Samples" unit="/s" lines={RATE} moments={moments} format={formatRate} />
        <StripChart
          title="Time to commit"
          unit="ms"
          lines={COMMIT}
          moments={moments}
          format={formatMs}
          isLog
        />
        <StripChart
          title="Requests to the database"
          unit=""
          lines={REQUESTS}
          moments={moments}
          format={formatCount}
        />
      </div>
      {pipeline && (
        <>
          <section class="panel" aria-label="Measurements since the start" data-stale={isOld}>
            <h2 class="panel-title">Measurements since the start</h2>
            <MeasurementCounts measurements={pipeline.measurements} />
          </section>
          <Storage pipeline={pipeline} now={now} isOld={isOld} />
          <section class="panel" aria-label="Processes">
            <h2 class="panel-title">Processes</h2>
            <ProcessTable processes={pipeline.processes} isOld={isOld} />
          </section>
        </>
      )}
      <Meanings />
    </>
  );
}

const MEANINGS: [term: string, meaning: string][] = [
  [
    'Stored, committed',
    'A message is acknowledged to its device only when all of it is written at the consistency that is configured. The time to commit is from its receipt to then.',
  ],
  ['p50, p99', 'Of a hundred messages, 50 and 99 took no longer.'],
  [
    'In flight, window',
    'Requests to the database on their way, and the number that may be on their way now. INGEST_MAX_IN_FLIGHT is the highest window. The window grows while the database answers quickly, and shrinks when it answers slowly. So the database is busy, but never flooded.',
  ],
  [
    'Waiting, pressure',
    'Messages wait from their receipt until they are acknowledged. Requests wait when they find no place in the window. While any request waits, the system is under pressure: messages stay at the broker or with their devices until there is room. Nothing is dropped.',
  ],
  [
    'Refused',
    'Measurements that cannot be stored, such as a value that is no number. Each is kept as a dead letter, with the reason.',
  ],
  ['Silent', 'Each process sends a heartbeat every 10 s. A process without one for 30 s may have died.'],
  ['Packing', 'Closed hours are compressed into history, by processes that have nothing more urgent to do.'],
];

const Meanings = () => (
  <details class="panel meanings">
    <summary>What these words mean</summary>
    <dl>
      {MEANINGS.map(([term, meaning]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  </details>
);

const EVERY_MS = 3000;
/** Interval of reading the number of devices, in ms. The API counts every 10 s at most. */
const FLEET_EVERY_MS = 10_000;

/** A polled answer. `problem`: why the last request failed */
type Polled<T> = { data: T | null; problem: Problem | null };

/**
 * Polls the API. In contrast to `useQuery`, `usePolled` reports each failed refresh, because the pipeline view shows the
 * failure.
 *
 * @param ask sends the request; must be the same function at every drawing
 */
function usePolled<T>(ask: (signal: AbortSignal) => Promise<T>, everyMs: number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ data: null, problem: null });
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function poll() {
      try {
        const data = await ask(abort.signal);
        setPolled({ data, problem: null });
      } catch (error) {
        if (abort.signal.aborted) return;
        setPolled((before) => ({ ...before, problem: toProblem(error) }));
      }
      if (!abort.signal.aborted) timer = setTimeout(poll, everyMs);
    }
    void poll();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [ask, everyMs]);
  return polled;
}

function usePipeline() {
  const { client } = useServices();
  return usePolled(
    useCallback((signal: AbortSignal) => readPipeline(client, signal), [client]),
    EVERY_MS,
  );
}

function useFleetCount() {
  const { client } = useServices();
  return usePolled(
    useCallback((signal: AbortSignal) => client.fleet(signal), [client]),
    FLEET_EVERY_MS,
  ).data;
}
