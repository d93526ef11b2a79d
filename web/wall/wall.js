import { html } from 'htm/preact';
import { useCallback, useRef, useState } from 'preact/hooks';
import { formatAge, formatCount, formatCounted, formatNumber, formatUnit, NOTHING } from '../format.js';
import { sensorHref } from '../routes.js';
import { isLearning } from '../state/baseline.js';
import { describeCellState, LEARNING } from '../state/cell-state.js';
import { useChanges, useObservable, useServices } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { usePicture, useReturn } from './use-picture.js';

/** @import { Box, Heading } from './picture.js' */
/** @import { FleetSensor } from '../state/device-index.js' */

/**
 * All sensors, one cell each, by site and device; a cell is a link to its sensor.
 *
 * @param {{ legend: (ref: { current: HTMLElement | null }) => any }} props `legend`: drawn under the wall, and what its colors are read from
 */
export function Wall({ legend: drawLegend }) {
  const { router } = useServices();
  const { room, canvas, legend, picture, arranged } = usePicture();
  const [pointed, setPointed] = useState(/** @type {FleetSensor | null} */ (null));
  const byKeyboard = useRef(false);
  const comeBack = useCallback((/** @type {FleetSensor} */ sensor) => {
    byKeyboard.current = true;
    setPointed(sensor);
  }, []);
  const element = useReturn(comeBack);

  /** @param {PointerEvent} event */
  const point = (event) => {
    const { left, top } = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    byKeyboard.current = false;
    setPointed(picture.current?.sensorAt(event.clientX - left, event.clientY - top) ?? null);
  };

  /** @param {KeyboardEvent} event */
  const move = (event) => {
    if (event.key === 'Escape') return setPointed(null);
    if (event.key === 'Enter' && pointed)
      return router.open(sensorHref(pointed.device.id, pointed.id), pointed.key);
    const next = picture.current?.byKey(pointed, event.key);
    if (!next) return undefined;
    event.preventDefault();
    byKeyboard.current = true;
    setPointed(next);
    const box = picture.current?.boxOf(next);
    if (box) showLine(/** @type {HTMLElement} */ (event.currentTarget), box);
    return undefined;
  };

  const box = pointed && picture.current?.boxOf(pointed);
  return html`
    <div class="wall-room" ref=${room}>
      <div
        ref=${element}
        class="wall-picture"
        role="application"
        aria-roledescription="wall of sensors"
        aria-label="All sensors, a cell each. Arrow keys move, Page Up and Page Down go from device to device, Enter opens the sensor."
        tabindex="0"
        style=${{ height: `${arranged.height}px` }}
        onPointerMove=${point}
        onPointerDown=${point}
        onPointerLeave=${(/** @type {PointerEvent} */ event) => event.pointerType === 'mouse' && setPointed(null)}
        onKeyDown=${move}
        onBlur=${() => setPointed(null)}
      >
        <canvas ref=${canvas} aria-hidden="true" style=${{ width: `${arranged.width}px`, height: `${arranged.height}px` }}></canvas>
        ${arranged.headings.map((heading) => html`<${SiteHeading} key=${heading.name ?? ''} heading=${heading} />`)}
        ${
          pointed &&
          box &&
          html`
            <a
              class="wall-cursor"
              href=${sensorHref(pointed.device.id, pointed.id)}
              tabindex="-1"
              aria-hidden="true"
              style=${{ left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` }}
            ></a>
            <${Pointed} sensor=${pointed} box=${box} room=${arranged} said=${byKeyboard.current} />
          `
        }
      </div>
    </div>
    ${drawLegend(legend)}
    ${
      arranged.lit !== null &&
      html`<p class="wall-lit" role="status">${formatCounted(arranged.lit, 'matches', 'match')} what is asked for; the others are dimmed.</p>`
    }
  `;
}

/** @param {{ heading: Heading }} props */
function SiteHeading({ heading: { name, sensors, devices, x, y, width } }) {
  const { router } = useServices();
  const place = useObservable(router.place);
  const chosen = place.query.get('site') === name;
  const count =
    width > 240
      ? `${formatCounted(sensors, 'sensor')} · ${formatCounted(devices, 'device')}`
      : formatCount(sensors);
  return html`
    <p class="wall-site" style=${{ left: `${x}px`, top: `${y}px`, width: `${width}px` }}>
      ${
        name === null
          ? html`<span class="wall-site-name">No site</span>`
          : html`<a class="wall-site-name" href=${withQuery(place, { site: chosen ? null : name, cursor: null })} tabindex="-1">${name}</a>`
      }
      <span>${count}</span>
    </p>
  `;
}

/**
 * Counts on by itself as long as it is shown.
 *
 * @param {{ sensor: FleetSensor, box: Box, room: { width: number }, said: boolean }} props
 */
function Pointed({ sensor, box, room, said }) {
  const { live, clock } = useServices();
  const now = useObservable(clock);
  useChanges(live.watch);
  const facts = { sensor, spread: live.fleet.spread(sensor), now };
  const first = useRef({ sensor, words: '' });
  // Said once for each cell: a value that changes each second would never let it end.
  if (first.current.sensor !== sensor || !first.current.words)
    first.current = { sensor, words: inWords(facts) };
  return html`
    <${CellCard} ...${facts} box=${box} room=${room} />
    ${said && html`<p class="visually-hidden" role="status">${first.current.words}</p>`}
  `;
}

/** Scrolls as little as shows the line of the cursor. @param {HTMLElement} wall @param {Box} box */
function showLine(wall, box) {
  const top = wall.getBoundingClientRect().top + box.y;
  if (top < 80) scrollBy({ top: top - 160 });
  else if (top + box.height > innerHeight - 40) scrollBy({ top: top + box.height - innerHeight + 120 });
}

/**
 * @typedef {{ sensor: FleetSensor, spread: number, now: number }} Facts `spread`: its usual one; `now`: epoch ms
 */

/** Room that a card takes, in px. */
const CARD = { width: 260, height: 96 };

/**
 * The card of the cell under the pointer or the keyboard's cursor.
 *
 * @param {Facts & { box: Box, room: { width: number } }} props
 */
function CellCard({ sensor, spread, now, box, room }) {
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
      <p>${describeCellState(sensor.cellState, isLearning(sensor.baseline))}${usualOf(sensor, spread)}</p>
    </div>
  `;
}

/**
 * @param {Facts} facts
 * @returns {string} the same in one sentence, for screen readers
 */
function inWords({ sensor, spread, now }) {
  const value = `${numberOf(sensor)} ${formatUnit(sensor.unit)}`.trim();
  return `${sensor.name} of ${sensor.device.name}: ${value}, ${ageOf(sensor, now)}. ${describeCellState(sensor.cellState, isLearning(sensor.baseline))}${usualOf(sensor, spread)}`;
}

/** @param {FleetSensor} sensor */
const numberOf = ({ value }) => formatNumber(value);

/** @param {FleetSensor} sensor @param {number} now */
const ageOf = ({ at }, now) => (at === 0 ? NOTHING : formatAge(now - at));

/** @param {FleetSensor} sensor @param {number} spread @returns {string} what is usual for it */
function usualOf({ cellState, baseline, score }, spread) {
  if (cellState >= LEARNING || isLearning(baseline)) return '';
  const usual = `${formatNumber(baseline.mean)} ± ${formatNumber(spread)}`;
  return Math.abs(score) < 1.4 ? `: ${usual}` : `: ${formatNumber(Math.abs(score), 1)} spreads from ${usual}`;
}
