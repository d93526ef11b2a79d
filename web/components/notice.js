import { html } from 'htm/preact';

/**
 * What stands where there is nothing to show, or where something went wrong: what is so, and what one can do.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {'quiet' | 'warn'} [props.tone]
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
 * @param {{ problem: import('../api/problem.js').Problem, onRetry: () => void }} props
 */
export function ProblemNotice({ problem, onRetry }) {
  return html`
    <${Notice} title=${problem.message} tone="warn">
      ${problem.detail && html`<p>${problem.detail}</p>`}
      <p><button type="button" class="button" onClick=${onRetry}>Try again</button></p>
    <//>
  `;
}

/** Said when an answer takes its time. */
export const SlowLine = () =>
  html`<p class="slow" role="status">The database takes longer than usual; still waiting.</p>`;
