import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import {
  decimalsFor,
  formatAge,
  formatDateTime,
  formatNumber,
  formatUnit,
  hueOf,
  NOTHING,
} from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

const FADE_MS = 600;

/**
 * A sensor's newest value with its unit; fades in when it changes.
 *
 * @param {object} props
 * @param {number | null} props.value
 * @param {string | null} props.unit
 * @param {string | null} props.ts
 * @param {{ value: number }[]} props.recent values before it, which fix the number of decimals
 * @param {number} [props.decimals] at least, where others of its kind stand in the same column
 */
export function Value({ value, unit, ts, recent, decimals: least = 0 }) {
  const number = useRef(/** @type {HTMLElement | null} */ (null));
  useFadeIn(number, ts);
  const decimals = Math.max(least, decimalsFor(recent.map((sample) => sample.value)));
  return html`
    <span class="value" data-none=${value === null}>
      <span class="value-number" ref=${number}>${formatNumber(value, recent.length > 0 ? decimals : undefined)}</span>
      <span class="value-unit">${formatUnit(unit)}</span>
    </span>
  `;
}

/**
 * @param {{ current: HTMLElement | null }} element
 * @param {string | null} ts
 */
function useFadeIn(element, ts) {
  const last = useRef(ts);
  useEffect(() => {
    if (last.current === ts) return;
    last.current = ts;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    // Opacity is animated without a repaint, so 25 values a second stay cheap.
    element.current?.animate([{ opacity: 0.35 }, { opacity: 1 }], { duration: FADE_MS, easing: 'ease-out' });
  }, [element, ts]);
}

/** A sensor that is silent for so long is shown as old; the API calls its device offline after the same time. */
export const STALE_MS = 5 * 60_000;

/**
 * How long ago something was measured; counts on by itself.
 *
 * @param {{ ts: string | null }} props ISO 8601
 */
export function Age({ ts }) {
  const { clock, preferences } = useServices();
  const now = useObservable(clock);
  const { zone } = useObservable(preferences);
  if (ts === null) return html`<span class="age">${NOTHING}</span>`;
  const at = Date.parse(ts);
  const age = now - at;
  return html`
    <time class="age" datetime=${ts} title=${formatDateTime(at, zone)} data-stale=${age > STALE_MS}>
      ${formatAge(age)}
    </time>
  `;
}

/**
 * A dot in the hue of a sensor's type.
 *
 * @param {{ type: string | null }} props
 */
export const TypeDot = ({ type }) =>
  html`<span class="type-dot hue-${hueOf(type)}" aria-hidden="true"></span>`;
