import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { decimalsFor, formatNumber, formatUnit } from '../format.js';

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
  const decimals = Math.max(least, decimalsFor(recent.map((one) => one.value)));
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
    // Opacity alone is animated without painting anew: twenty-five values a second stay cheap.
    element.current?.animate([{ opacity: 0.35 }, { opacity: 1 }], { duration: FADE_MS, easing: 'ease-out' });
  }, [element, ts]);
}
