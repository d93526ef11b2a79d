import { html } from 'htm/preact';
import { Code } from './code-table.js';
import { codeOf } from './codes.js';
import { escapeLine } from './escape.js';
import { indexesByCode, indexText, reasonsOf } from './indexes.js';

/** @import { Refusal } from '../api/types.js' */

/** Reasons of one code that are shown; the payload below marks every refused measurement. */
const MOST_REASONS = 3;

/**
 * Which measurements of a message were refused, and why.
 *
 * @param {{ refused: Refusal[], caption: string }} props
 */
export const RefusedTable = ({ refused, caption }) => html`
  <table class="plain stacks refused">
    <caption class="said">${caption}</caption>
    <thead>
      <tr>
        <th scope="col" class="col-code">Code</th>
        <th scope="col" class="col-element">Measurements</th>
        <th scope="col">What it means, and what to do</th>
      </tr>
    </thead>
    <tbody>
      ${[...indexesByCode(refused)].map(
        ([code, indexes]) => html`
          <tr key=${code}>
            <th scope="row"><${Code} code=${code} /></th>
            <td class="indexes">${indexText(indexes)}</td>
            <td class="wraps whole">
              ${reasonsOf(refused, code, MOST_REASONS).map((text) => html`<code class="reason">${escapeLine(text)}</code>`)}
              ${codeOf(code).title}. <span class="advice">${codeOf(code).advice}</span>
            </td>
          </tr>
        `,
      )}
    </tbody>
  </table>
`;
