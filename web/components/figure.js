import { html } from 'htm/preact';
import { NOTHING } from '../format.js';

/** More characters than this are written smaller: counters have many digits. */
const LONG = 10;

/**
 * One key figure: what it is, how much, in which unit; beside it whatever explains it.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value formatted
 * @param {string} [props.unit]
 * @param {string} [props.second] a second, smaller figure
 * @param {string} [props.secondUnit]
 * @param {'warn'} [props.tone]
 * @param {any} [props.children] usually a sparkline
 */
export function Figure({ label, value, unit = '', second = '', secondUnit = '', tone, children }) {
  return html`
    <div class="figure" data-tone=${tone}>
      <dt>${label}</dt>
      <dd>
        <span class="figure-value" data-none=${value === NOTHING} data-long=${value.length > LONG}>${value}</span>
        ${unit && html`<span class="figure-unit">${unit}</span>`}
        ${
          second &&
          html`<span class="figure-second">
            <span class="figure-second-value">${second}</span><span class="figure-unit">${secondUnit}</span>
          </span>`
        }
      </dd>
      ${children && html`<dd class="figure-picture">${children}</dd>`}
    </div>
  `;
}
