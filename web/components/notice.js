import { html } from 'htm/preact';
import { wordsOf } from '../api/problem-words.js';

/** @import { Problem } from '../api/problem.js' */

/**
 * What stands where there is nothing to show, or where something went wrong: what is so, and what one can do.
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
 * @param {boolean} [props.retries] whether whoever shows this asks again by itself what may pass; `useQuery` does
 */
export function ProblemNotice({ problem, onRetry, retries = true }) {
  const { title, advice } = wordsOf(problem);
  return html`
    <${Notice} title=${title} tone="warn">
      ${advice && html`<p>${advice}</p>`}
      ${retries && problem.passes && html`<p>This is tried again by itself every few seconds.</p>`}
      <p class="notice-ways">
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
