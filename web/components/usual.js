import { html } from 'htm/preact';
import { decimalsFor, formatNumber, formatUnit } from '../format.js';
import { useJudgement } from '../state/use-judgement.js';
import { describeLook } from '../state/cell-state.js';

/** @import { LatestItem } from '../api/types.js' */

/**
 * What is usual for a sensor, and how far its newest value is from that: the colour of its cell on the wall, in words.
 *
 * @param {{ item: LatestItem, recent: { ts: number, value: number }[] }} props
 */
export function Usual({ item, recent }) {
  const judgement = useJudgement(item, recent);
  if (item.ts === null) return null;
  if (!judgement) return html`<p class="usual">Learning what is usual for it</p>`;
  const { mean, spread, off, look } = judgement;
  const says = describeLook(look, false);
  const decimals = decimalsFor(recent.map(({ value }) => value));
  const written = (/** @type {number} */ value) => formatNumber(value, decimals);
  // What does not move has no spread to speak of.
  const around = Number(spread.toFixed(decimals)) > 0 ? ` ± ${written(spread)}` : '';
  const range = html`<span class="usual-range">${written(mean)}${around} ${formatUnit(item.unit)}</span>`;
  return html`
    <p class="usual" title="What this sensor measured in the last minutes, and its usual spread: what its cell on the wall is coloured by">
      <i class="swatch" data-look=${look} aria-hidden="true"></i>
      <span>${says === AS_USUAL ? html`${says}: ${range}` : html`<b>${says}</b> ${range}, by ${written(Math.abs(off))}`}</span>
    </p>
  `;
}

const AS_USUAL = 'As usual';
