import { html } from 'htm/preact';
import { formatCounted } from '../format.js';

/** @import { Finding } from './findings.js' */

/**
 * What is wrong, and what to do.
 *
 * @param {{ findings: Finding[] }} props
 */
export const Findings = ({ findings }) => html`
  <ul class="findings" aria-label="What needs a look">
    ${findings.map(
      ({ title, tone, advice, href }) => html`
        <li key=${title} class="finding" data-tone=${tone}>
          <span class="finding-sign" aria-hidden="true">${tone === 'bad' ? '✕' : '!'}</span>
          <p><strong>${title}.</strong> ${advice} ${href && html`<a class="link" href=${href}>See them</a>`}</p>
        </li>
      `,
    )}
  </ul>
`;

/** All of it in a few words. @param {{ count: number, isKnown: boolean }} props */
export function Verdict({ count, isKnown }) {
  const words =
    count === 0
      ? isKnown
        ? '✓ All is well'
        : 'Looking …'
      : `! ${formatCounted(count, 'thing needs', 'things need')} a look`;
  return html`<p class="verdict" role="status" data-tone=${count > 0 ? 'warn' : isKnown ? 'good' : undefined}>${words}</p>`;
}
