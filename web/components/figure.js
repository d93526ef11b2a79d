import { html } from 'htm/preact';

/**
 * One key figure: what it is, how much, in which unit; beside it whatever explains it.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value formatted
 * @param {string} [props.unit]
 * @param {string} [props.note] a second, smaller figure
 * @param {'warn'} [props.tone]
 * @param {any} [props.children] usually a sparkline
 */
export function Figure({ label, value, unit = '', note = '', tone, children }) {
  return html`
    <div class="figure" data-tone=${tone}>
      <dt>${label}</dt>
      <dd>
        <span class="figure-value">${value}</span>
        ${unit && html`<span class="figure-unit">${unit}</span>`}
        ${note && html`<span class="figure-note">${note}</span>`}
      </dd>
      ${children && html`<dd class="figure-picture">${children}</dd>`}
    </div>
  `;
}
