import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { formatTime, formatZone } from '../format.js';

/** @import { Moment } from '../state/recent-stats.js' */
/** @import { StripChart } from './strip-chart.js' */

const EVERY_MS = 15_000;

/**
 * What a chart shows, in figures, a row for every quarter of a minute. It is written only while somebody reads it.
 *
 * @param {Omit<Parameters<typeof StripChart>[0], never> & { zone: 'local' | 'utc' }} props
 */
export function StripTable({ title, unit, lines, moments, format, zone }) {
  const [isOpen, setOpen] = useState(false);
  return html`
    <details class="more-figures" onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
      <summary>The same as a table</summary>
      ${
        isOpen &&
        html`<table class="plain">
          <caption class="said">${title}, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Time ${formatZone(zone, Date.now())}</th>
              ${lines.map(({ name }) => html`<th scope="col" class="number">${name}, ${unit}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${sparse(moments).map(
              (moment) => html`
                <tr key=${moment.at}>
                  <th scope="row">${formatTime(moment.at, zone)}</th>
                  ${lines.map(({ read }) => html`<td class="number">${format(read(moment))}</td>`)}
                </tr>
              `,
            )}
          </tbody>
        </table>`
      }
    </details>
  `;
}

/** @param {Moment[]} moments @returns {Moment[]} newest first, at whole quarters of a minute */
function sparse(moments) {
  const quarter = (/** @type {number} */ at) => Math.floor(at / EVERY_MS);
  return moments.filter(({ at }, index) => quarter(at) !== quarter(moments[index - 1]?.at ?? 0)).reverse();
}
