import { html } from 'htm/preact';
import { formatAge, formatNumber, formatUnit, NOTHING } from '../format.js';
import { isLearning } from '../state/baseline.js';
import { describeLook, LEARNING } from '../state/cell-state.js';

/** @import { FleetSensor } from '../state/fleet-types.js' */
/** @import { Box } from './picture.js' */

/**
 * @typedef {{ sensor: FleetSensor, spread: number, now: number }} Facts `spread`: its usual one; `now`: epoch ms
 */

/** Room that a card takes, in px. */
const CARD = { width: 260, height: 96 };

/**
 * What there is to say of the cell under the pointer or the keyboard's cursor.
 *
 * @param {Facts & { box: Box, room: { width: number } }} props
 */
export function CellCard({ sensor, spread, now, box, room }) {
  const left = Math.max(0, Math.min(box.x, room.width - CARD.width));
  const above = box.y > CARD.height + 8;
  const style = {
    left: `${left}px`,
    [above ? 'bottom' : 'top']: above ? `calc(100% - ${box.y - 8}px)` : `${box.y + box.height + 8}px`,
  };
  return html`
    <div class="wall-card" style=${style}>
      <p class="wall-card-name"><b>${sensor.name}</b> <span>${sensor.device.name}</span></p>
      <p class="wall-card-value">
        <b>${numberOf(sensor)}</b> <span>${formatUnit(sensor.unit)}</span>
        <span class="wall-card-age">${ageOf(sensor, now)}</span>
      </p>
      <p>${describeLook(sensor.look, isLearning(sensor.range))}${usualOf(sensor, spread)}</p>
    </div>
  `;
}

/**
 * @param {Facts} facts
 * @returns {string} the same in one sentence, to be said
 */
export function inWords({ sensor, spread, now }) {
  const value = `${numberOf(sensor)} ${formatUnit(sensor.unit)}`.trim();
  return `${sensor.name} of ${sensor.device.name}: ${value}, ${ageOf(sensor, now)}. ${describeLook(sensor.look, isLearning(sensor.range))}${usualOf(sensor, spread)}`;
}

/** @param {FleetSensor} sensor */
const numberOf = ({ value }) => formatNumber(value);

/** @param {FleetSensor} sensor @param {number} now */
const ageOf = ({ at }, now) => (at === 0 ? NOTHING : formatAge(now - at));

/** @param {FleetSensor} sensor @param {number} spread @returns {string} what is usual for it */
function usualOf({ look, range, score }, spread) {
  if (look >= LEARNING || isLearning(range)) return '';
  const usual = `${formatNumber(range.mean)} ± ${formatNumber(spread)}`;
  return Math.abs(score) < 1.4 ? `: ${usual}` : `: ${formatNumber(Math.abs(score), 1)} spreads from ${usual}`;
}
