import { html } from 'htm/preact';
import { Code, codeOf } from './codes.js';
import { escapeLine } from './text.js';

/** @import { Refusal } from '../api/types.js' */

/** Reasons of one code that are shown; the payload below marks every refused measurement. */
const MOST_REASONS = 3;

/**
 * The refused measurements of a message with the reasons.
 *
 * @param {{ refused: Refusal[], caption: string }} props
 */
export const RefusedTable = ({ refused, caption }) => html`
  <table class="plain stacks refused">
    <caption class="visually-hidden">${caption}</caption>
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

/**
 * @param {Refusal[]} refused
 * @returns {Map<string, number[]>} by code, in the order in which the codes come
 */
export function indexesByCode(refused) {
  /** @type {Map<string, number[]>} */
  const byCode = new Map();
  for (const { index, code } of refused) byCode.set(code, [...(byCode.get(code) ?? []), index]);
  return byCode;
}

/**
 * @param {Refusal[]} refused
 * @param {string} code
 * @param {number} limit
 * @returns {string[]} which field breaks which rule, `[2].value: must be a number`; each text once, the first of them
 */
export function reasonsOf(refused, code, limit) {
  /** @type {Set<string>} */
  const texts = new Set();
  for (const refusal of refused) {
    if (texts.size === limit) break;
    if (refusal.code === code && refusal.rule) {
      texts.add(refusal.path ? `${refusal.path}: ${refusal.rule}` : refusal.rule);
    }
  }
  return [...texts];
}

/** @param {number[]} indexes ascending; -1 is the message as a whole @returns {string} `[0]–[5], [7]` */
export function indexText(indexes) {
  if (indexes.includes(-1)) return 'the whole message';
  /** @type {[first: number, last: number][]} */
  const runs = [];
  for (const index of indexes) {
    const run = runs.at(-1);
    if (run && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([first, last]) => (first === last ? `[${first}]` : `[${first}]–[${last}]`)).join(', ');
}
