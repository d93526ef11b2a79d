import { html } from 'htm/preact';
import { formatCount, formatZone } from '../format.js';
import { binName } from './bars.js';
import { byCount } from './codes.js';

/** @import { Bin } from './counts.js' */

/**
 * The bars in figures, each leading to its letters.
 *
 * @param {object} props
 * @param {Bin[]} props.bins oldest first
 * @param {'local' | 'utc'} props.zone
 * @param {(bin: Bin) => string} props.hrefOf
 */
export function BinsTable({ bins, zone, hrefOf }) {
  const filled = bins.filter(({ letters }) => letters > 0).reverse();
  return html`
    <details class="more-figures">
      <summary>The same as a table</summary>
      <table class="plain">
        <caption class="said">Refused measurements over time, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time ${formatZone(zone, bins[0]?.from ?? Date.now())}</th>
            <th scope="col" class="number">Letters</th>
            <th scope="col">Refused measurements</th>
          </tr>
        </thead>
        <tbody>
          ${filled.map(
            (bin) => html`
              <tr key=${bin.from}>
                <th scope="row"><a class="link" href=${hrefOf(bin)}>${binName(bin, zone)}</a></th>
                <td class="number">${formatCount(bin.letters)}</td>
                <td class="wraps">${byCount(bin.codes)
                  .map(([code, count]) => `${formatCount(count)} ${code}`)
                  .join(', ')}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </details>
  `;
}
