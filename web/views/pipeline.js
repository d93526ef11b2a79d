import { html } from 'htm/preact';
import { ProblemNotice } from '../components/notice.js';
import { formatCount, formatMs, formatRate, formatTime } from '../format.js';
import { Way } from '../pipeline/data-path.js';
import { Findings, findingsOf, Verdict } from '../pipeline/findings.js';
import { ProcessTable } from '../pipeline/process-table.js';
import { Storage } from '../pipeline/storage.js';
import { StripChart } from '../pipeline/strip-chart.js';
import { useFleetCount, usePipeline } from '../pipeline/use-pipeline.js';
import { useObservable, useServices, useTitle } from '../state/hooks.js';
import { useFiguresAlone, useRecentStats } from '../state/stats.js';

/** @import { Line } from '../pipeline/strip-chart.js' */

/** @type {Line[]} */
const RATE = [{ name: 'stored', read: (moment) => moment.samples_per_s }];
/** @type {Line[]} */
const COMMIT = [
  { name: 'p50', read: (moment) => moment.commit_ms.p50 },
  { name: 'p99', read: (moment) => moment.commit_ms.p99 },
];
/** @type {Line[]} */
const REQUESTS = [
  { name: 'in flight', read: (moment) => moment.in_flight },
  { name: 'window', read: (moment) => moment.window },
];

/** The data's way, drawn as it runs; what is wrong on it; and its last five minutes. */
export function PipelineView() {
  const { clock, live, preferences } = useServices();
  const { zone } = useObservable(preferences);
  const now = useObservable(clock);
  const status = useObservable(live.status);
  const { data: pipeline, at, problem } = usePipeline();
  const fleet = useFleetCount();
  const moments = useRecentStats();
  useFiguresAlone();
  useTitle('Pipeline');
  const stats = moments.at(-1) ?? null;
  const isOffline = pipeline !== null && status === 'reconnecting';
  const findings = findingsOf({ pipeline, problem, stats, now });

  // A missing permission replaces the view. Other problems may pass, and the last figures stay.
  if (problem && !problem.passes)
    return html`<${ProblemNotice} problem=${problem} onRetry=${() => location.reload()} />`;
  return html`
    <div class="title">
      <div>
        <h1>Pipeline</h1>
        <p class="lead">From device to reader: what runs, how fast, and what slows it down.</p>
      </div>
      <${Verdict} count=${findings.length} isKnown=${pipeline !== null} />
    </div>
    ${findings.length > 0 && html`<${Findings} findings=${findings} />`}
    ${isOffline && html`<p class="slow">What follows is as it was at ${formatTime(at, zone)}.</p>`}
    <section class="panel" aria-label="The way of the data" aria-busy=${pipeline === null} data-stale=${isOffline}>
      <${Way} pipeline=${pipeline} stats=${stats} fleet=${fleet} status=${status} findings=${findings} />
    </section>
    <div class="strips" data-stale=${isOffline}>
      <${StripChart} title="Samples" unit="/s" lines=${RATE} moments=${moments} format=${formatRate} />
      <${StripChart} title="Time to commit" unit="ms" lines=${COMMIT} moments=${moments} format=${formatMs} />
      <${StripChart} title="Requests to the database" unit="" lines=${REQUESTS} moments=${moments} format=${formatCount} />
    </div>
    ${
      pipeline &&
      html`
        ${problem && !isOffline && html`<p class="slow">What follows is as it was at ${formatTime(at, zone)}.</p>`}
        <${Storage} pipeline=${pipeline} now=${now} isOld=${problem !== null} />
        <section class="panel" aria-label="Processes">
          <h2 class="panel-title">Processes</h2>
          <${ProcessTable} processes=${pipeline.processes} />
        </section>
      `
    }
    <${Meanings} />
  `;
}

/** @type {[term: string, meaning: string][]} */
const MEANINGS = [
  [
    'Committed',
    'A message is acknowledged to its device only when all of it is written at the consistency that is configured. The time to commit is from its receipt to then.',
  ],
  ['p50, p99', 'Of a hundred messages, 50 and 99 took no longer.'],
  [
    'In flight, window',
    'How many requests to the database are on their way, and how many may be now; INGEST_MAX_IN_FLIGHT is the most. The window grows while the database answers quickly, and shrinks when it answers slowly: so it is kept busy, and never flooded.',
  ],
  [
    'Waiting, pressure',
    'Requests that found no place in the window. While any wait, the system is under pressure: messages stay at the broker or with their devices until there is room. Nothing is dropped.',
  ],
  [
    'Refused',
    'Measurements that cannot be stored, such as a value that is no number. Each is kept as a dead letter, with the reason.',
  ],
  ['Stale', 'Each process sends a heartbeat every 10 s. A process without one for 30 s may have died.'],
  ['Packing', 'Closed hours are compressed into history, by processes that have nothing more urgent to do.'],
];

/** Explains the words of the view. */
const Meanings = () => html`
  <details class="panel meanings">
    <summary>What these words mean</summary>
    <dl>
      ${MEANINGS.map(([term, meaning]) => html`<div key=${term}><dt>${term}</dt><dd>${meaning}</dd></div>`)}
    </dl>
  </details>
`;
