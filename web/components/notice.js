import { html } from 'htm/preact';
import { wordsOf } from '../api/problem.js';
import { formatTime } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

/** @import { Problem } from '../api/problem.js' */

/**
 * A message in place of content: an empty list or a problem, with advice.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {'quiet' | 'warn' | 'good'} [props.tone]
 * @param {any} [props.children]
 */
export function Notice({ title, tone = 'quiet', children }) {
  return html`
    <section class="notice" data-tone=${tone} role=${tone === 'warn' ? 'alert' : undefined}>
      <h2>${title}</h2>
      ${children}
    </section>
  `;
}

/**
 * Why there is no answer, what to do about it, and a way home.
 *
 * @param {object} props
 * @param {Problem} props.problem
 * @param {() => void} props.onRetry
 * @param {boolean} [props.retries] whether the caller retries temporary problems by itself, as `useQuery` does
 */
export function ProblemNotice({ problem, onRetry, retries = true }) {
  const { title, advice } = wordsOf(problem);
  return html`
    <${Notice} title=${title} tone="warn">
      ${advice && html`<p>${advice}</p>`}
      ${retries && problem.passes && html`<p>This is tried again by itself every few seconds.</p>`}
      <p class="notice-actions">
        <button type="button" class="button" onClick=${onRetry}>Try again</button>
        <a class="button" href="/">To the fleet</a>
      </p>
    <//>
  `;
}

/**
 * The same in one line, above what was there before.
 *
 * @param {{ problem: Problem, onRetry: () => void }} props
 */
export const ProblemLine = ({ problem, onRetry }) => html`
  <p class="slow problem-line" role="alert">
    <span>${problem.message}. ${problem.detail}</span>
    <button type="button" class="button" onClick=${onRetry}>Try again</button>
  </p>
`;

/** Said when an answer takes its time. */
export const SlowLine = () =>
  html`<p class="slow" role="status">The database takes longer than usual; still waiting.</p>`;

/** @param {{ href: string }} props where all sensors are shown */
export const NoMatch = ({ href }) => html`
  <${Notice} title="No sensor matches">
    <p>Types and sites must match as a whole, names from their beginning.</p>
    <p><a class="button" href=${href}>Show all sensors</a></p>
  <//>
`;

export const NoDevice = () => html`
  <${Notice} title="No device matches">
    <p>Sites must match as a whole, names from their beginning.</p>
    <p><a class="button" href="/?show=devices">Show all devices</a></p>
  <//>
`;

/** The first thing a newcomer may see: what to do next. */
export const EmptyFleet = () => html`
  <${Notice} title="No sensor has spoken yet">
    <p>The first measurement appears here by itself. Send one:</p>
    <pre><code>mosquitto_pub -q 1 -t iot/v1/kitchen/measurements \\
  -m '{"sensor_id":"temperature","value":21.5}'</code></pre>
    <p>Or start a simulated fleet with <code>npm run simulator</code>.</p>
  <//>
`;

/** Warns that the values are old. @param {{ since: number | null }} props epoch ms; null: it is not */
export function OfflineBanner({ since }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  if (since === null) return null;
  return html`<p class="slow">The connection is lost. The values are from ${formatTime(since, zone)}.</p>`;
}
