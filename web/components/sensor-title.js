import { html } from 'htm/preact';
import { decimalsFor, formatNumber, formatUnit, hueOf } from '../format.js';
import { describeCellState } from '../state/cell-state.js';
import { useDeviation } from '../state/deviation.js';
import { keyOf } from '../state/live.js';
import { Age, TypeDot, Value } from './value.js';

/** @import { LatestItem } from '../api/types.js' */

/**
 * The title of a sensor page: name, newest value and deviation.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {LatestItem | null} props.item null: not known yet
 * @param {{ ts: number, value: number }[]} props.recent
 * @param {boolean} props.isOld the connection is lost
 */
export function SensorTitle({ name, item, recent, isOld }) {
  return html`
    <div class="title">
      <div>
        <h1><${TypeDot} type=${item?.type ?? null} />${name}</h1>
        <ul class="facts">
          ${item && item.name === null && html`<li>no name yet</li>`}
          <li>${item?.type ?? 'no type yet'}</li>
          ${item?.site && html`<li><a href=${`/?site=${encodeURIComponent(item.site)}`}>${item.site}</a></li>`}
        </ul>
      </div>
      <div class="now-block" data-stale=${isOld}>
        <p class="now hue-${hueOf(item?.type ?? null)}">
          <${Value} value=${item?.value ?? null} unit=${item?.unit ?? null} ts=${item?.ts ?? null} recent=${recent} />
          <${Age} ts=${item?.ts ?? null} />
        </p>
        ${item && html`<${Baseline} key=${keyOf(item)} item=${item} recent=${recent} />`}
      </div>
    </div>
  `;
}

/**
 * The baseline of a sensor and the deviation of its newest value, as text: the same as the color of its cell on the wall.
 *
 * @param {{ item: LatestItem, recent: { ts: number, value: number }[] }} props
 */
function Baseline({ item, recent }) {
  const deviation = useDeviation(item, recent);
  if (item.ts === null) return null;
  if (!deviation) return html`<p class="baseline">Learning what is usual for it</p>`;
  const { mean, spread, off, cellState } = deviation;
  const text = describeCellState(cellState, false);
  const decimals = decimalsFor(recent.map(({ value }) => value));
  const written = (/** @type {number} */ value) => formatNumber(value, decimals);
  // A constant value has no spread worth showing.
  const around = Number(spread.toFixed(decimals)) > 0 ? ` ± ${written(spread)}` : '';
  const range = html`<span class="baseline-range">${written(mean)}${around} ${formatUnit(item.unit)}</span>`;
  return html`
    <p class="baseline" title="What this sensor measured in the last minutes, and its usual spread: what its cell on the wall is colored by">
      <i class="swatch" data-cell-state=${cellState} aria-hidden="true"></i>
      <span>${text === AS_USUAL ? html`${text}: ${range}` : html`<b>${text}</b> ${range}, by ${written(Math.abs(off))}`}</span>
    </p>
  `;
}

const AS_USUAL = 'As usual';
