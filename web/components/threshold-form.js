import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted, formatUnit } from '../format.js';
import { countOverThreshold, parseThresholds } from '../state/thresholds.js';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Thresholds } from '../state/thresholds.js' */

/**
 * The thresholds of the chart, and how often the signal is over them.
 *
 * @param {object} props
 * @param {Thresholds} props.thresholds
 * @param {(next: Thresholds) => void} props.onChange
 * @param {Shape} props.shape
 * @param {string | null} props.unit
 */
export function ThresholdForm({ thresholds, onChange, shape, unit }) {
  const id = useId();
  const [typed, setTyped] = useState(textsOf(thresholds));
  const [wrong, setWrong] = useState('');
  // The address changed by other means: back, a link, what was remembered.
  useEffect(() => {
    setTyped(textsOf(thresholds));
    setWrong('');
  }, [thresholds.low, thresholds.high]);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const isSet = thresholds.low !== null || thresholds.high !== null;

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const parsed = parseThresholds(typed);
    setWrong(typeof parsed === 'string' ? parsed : '');
    if (typeof parsed !== 'string') onChange(parsed);
  }

  function clear() {
    onChange({ low: null, high: null });
    // The button goes: one goes on where one would draw others.
    form.current?.querySelector('input')?.focus();
  }

  /** @param {'low' | 'high'} side @param {string} label */
  const field = (side, label) => html`
    <div class="field threshold" data-set=${thresholds[side] !== null}>
      <label for=${`${id}-${side}`}>${label}</label>
      <input
        id=${`${id}-${side}`}
        inputmode="decimal"
        autocomplete="off"
        value=${typed[side]}
        aria-invalid=${wrong !== ''}
        aria-describedby=${`${id}-message`}
        onInput=${(/** @type {any} */ event) => setTyped({ ...typed, [side]: event.target.value })}
      />
      <span class="threshold-unit">${formatUnit(unit)}</span>
    </div>
  `;

  return html`
    <form class="thresholds" ref=${form} aria-label="Thresholds" onSubmit=${submit}>
      <span class="thresholds-label">Thresholds</span>
      ${field('low', 'Low')} ${field('high', 'High')}
      <button class="button">Draw lines</button>
      ${isSet && html`<button type="button" class="button quiet-button" onClick=${clear}>Clear</button>`}
      <p id=${`${id}-message`} class="threshold-message" data-wrong=${wrong !== ''}>
        <span role="status">${wrong}</span>${!wrong && isSet && overThresholdText(shape, thresholds)}
      </p>
    </form>
  `;
}

/** @param {Thresholds} thresholds */
const textsOf = ({ low, high }) => ({ low: low?.toString() ?? '', high: high?.toString() ?? '' });

/** @param {Shape} shape @param {Thresholds} thresholds */
function overThresholdText(shape, thresholds) {
  const { low, high } = countOverThreshold(shape, thresholds);
  const all = `of ${formatCounted(shape.ts.length, shape.stepMs === null ? 'sample' : 'point')}`;
  const said = [
    ...(thresholds.low === null ? [] : [`${formatCount(low)} ${all} below low`]),
    ...(thresholds.high === null ? [] : [`${formatCount(high)} ${all} above high`]),
  ];
  return said.join(', ');
}
