import { html } from 'htm/preact';
import { decimalsFor, formatCount, formatNumber, formatUnit } from '../format.js';
import { statisticsOf } from '../state/samples.js';
import { Figure } from './figure.js';

/** So many of the newest samples show how precise the sensor is. */
const TYPICAL = 100;

/**
 * Statistics of the samples shown.
 *
 * @param {{ samples: import('../state/samples.js').Samples, unit: string | null }} props
 */
export function SampleFigures({ samples, unit }) {
  const { count, min, max, avg } = statisticsOf(samples);
  const decimals =
    min === null || max === null ? 0 : decimalsFor([min, max, ...samples.value.slice(-TYPICAL)]);
  const written = formatUnit(unit);
  return html`
    <dl class="figures" aria-label="Statistics of what is shown">
      <${Figure} label="Lowest" value=${formatNumber(min, decimals)} unit=${written} />
      <${Figure} label="Average" value=${formatNumber(avg, Math.max(decimals, 1))} unit=${written} />
      <${Figure} label="Highest" value=${formatNumber(max, decimals)} unit=${written} />
      <${Figure} label="Samples" value=${formatCount(count)} />
    </dl>
  `;
}
