import { html } from 'htm/preact';
import { formatCount } from '../format.js';
import { byCount, codeOf } from './codes.js';

/**
 * The legend of the bars: what was refused, how often, what it means, and what to do.
 *
 * @param {object} props
 * @param {Record<string, number>} props.codes refused measurements by code
 * @param {string | null} props.chosen the code that the list is narrowed to
 * @param {(code: string) => string} props.hrefOf the list narrowed to a code
 */
export const CodeTable = ({ codes, chosen, hrefOf }) => html`
  <table class="plain stacks codes">
    <caption class="said">Refused measurements by code</caption>
    <thead>
      <tr>
        <th scope="col">Code</th>
        <th scope="col" class="number">Measurements</th>
        <th scope="col">What it means, and what to do</th>
      </tr>
    </thead>
    <tbody>
      ${byCount(codes).map(([code, count]) => {
        const { title, advice } = codeOf(code);
        return html`
          <tr key=${code} aria-current=${code === chosen ? 'true' : undefined}>
            <th scope="row"><a class="link" href=${hrefOf(code)} title="Show the letters of this code"><${Code} code=${code} /></a></th>
            <td class="number">${formatCount(count)}</td>
            <td class="wraps whole">${title}. <span class="advice">${advice}</span></td>
          </tr>
        `;
      })}
    </tbody>
  </table>
`;

/** @param {{ code: string }} props its sign and its name */
export const Code = ({ code }) =>
  html`<span class="code"><span class=${`code-sign ${codeOf(code).look}`} aria-hidden="true"></span><code>${code}</code></span>`;
