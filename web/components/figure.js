import { html } from 'htm/preact';
import {
  decimalsFor,
  formatCount,
  formatDateTime,
  formatNumber,
  formatStep,
  formatUnit,
  NOTHING,
} from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Statistics } from '../chart/readout.js' */

/** More characters than this are written smaller: counters have many digits. */
const LONG = 10;

/**
 * One key figure: label, value and unit, and next to it a picture.
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

/** So many of the newest values show how precise the sensor is. */
const TYPICAL = 100;

/**
 * Statistics of all samples of the range shown.
 *
 * @param {object} props
 * @param {Statistics} props.statistics
 * @param {Shape} props.shape
 * @param {string | null} props.unit
 */
export function RangeFigures({ statistics, shape, unit }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const { count, min, max, avg, minAt, maxAt } = statistics;
  const decimals = min === null || max === null ? 0 : decimalsFor([min, max, ...shape.max.slice(-TYPICAL)]);
  const written = formatUnit(unit);
  /** @param {number | null} ts */
  const at = (ts) => {
    if (ts === null) return '';
    const time = html`<time>${formatDateTime(ts, zone)}</time>`;
    // The extreme of a bin has no exact time.
    return html`<span class="figure-note">${shape.stepMs === null ? 'at ' : `in the ${formatStep(shape.stepMs)} from `}${time}</span>`;
  };
  return html`
    <dl class="figures range-figures" aria-label="Statistics of what is shown">
      <${Figure} label="Lowest" value=${formatNumber(min, decimals)} unit=${written}>${at(minAt)}<//>
      <${Figure} label="Average" value=${formatNumber(avg, Math.max(decimals, 1))} unit=${written} />
      <${Figure} label="Highest" value=${formatNumber(max, decimals)} unit=${written}>${at(maxAt)}<//>
      <${Figure} label="Samples" value=${formatCount(count)} />
    </dl>
  `;
}
