import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted, formatUnit } from '../format.js';
import { useServices } from '../state/hooks.js';
import { countOverThreshold, parseThresholds } from '../state/preferences.js';
import { isPlain, quantityOf, toSent, toShown, unitsOf } from '../units.js';
import { Choice } from './controls.jsx';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Thresholds } from '../state/preferences.js' */
/** @import { Scale } from '../units.js' */

const KINDS = [
  { value: 'value', label: 'Value' },
  { value: 'rate', label: 'Rate', title: 'How much it rises in a time' },
];

/**
 * How the chart of a sensor is read: in which unit, and a counter as its value or its rate. Nothing where there is no choice.
 *
 * @param {object} props
 * @param {string | null} props.unit as sent
 * @param {boolean} props.isCounter
 */
export function SignalOptions({ unit, isCounter }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const isRate = query.get('as') === 'rate';
  return (
    <>
      {isCounter && (
        <Choice
          legend="Show its"
          options={KINDS}
          value={isRate ? 'rate' : 'value'}
          onChange={(/** @type {string} */ value) =>
            router.changeQuery({ as: value === 'rate' ? value : null }, { replace: true })
          }
        />
      )}
      <UnitChoice unit={unit} />
    </>
  );
}

/** The unit of all values of this quantity, in all views of this browser. @param {{ unit: string | null }} props as sent */
function UnitChoice({ unit }) {
  const { preferences } = useServices();
  const { units } = preferences.choice.value;
  const quantity = quantityOf(unit);
  if (!quantity) return null;
  return (
    <label class="unit-choice">
      <span>Unit</span>
      <select
        value={units[quantity] ?? ''}
        title={`The unit of every ${quantity} in this browser`}
        onChange={(/** @type {any} */ event) =>
          preferences.change({ units: { ...units, [quantity]: event.currentTarget.value || undefined } })
        }
      >
        <option value="">as sent ({formatUnit(unit)})</option>
        {unitsOf(quantity).map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

/**
 * The thresholds of the chart, and how often the signal is over them.
 *
 * @param {object} props
 * @param {Thresholds} props.thresholds
 * @param {(next: Thresholds) => void} props.onChange
 * @param {Shape} props.shape as sent
 * @param {Scale} props.scale in which they are typed
 * @param {any} [props.children] other actions next to *Draw lines*
 */
export function ThresholdForm({ thresholds, onChange, shape, scale, children }) {
  const id = useId();
  const [typed, setTyped] = useState(textsOf(thresholds, scale));
  const [wrong, setWrong] = useState('');
  // The address changed by other means: back, a link, what was remembered.
  useEffect(() => {
    setTyped(textsOf(thresholds, scale));
    setWrong('');
  }, [thresholds.low, thresholds.high, scale.unit]);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const sent = (/** @type {number | null} */ line) => (line === null ? null : toSent(scale, line));
  const isSet = thresholds.low !== null || thresholds.high !== null;

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const parsed = parseThresholds(typed);
    setWrong(typeof parsed === 'string' ? parsed : '');
    if (typeof parsed !== 'string') onChange({ low: sent(parsed.low), high: sent(parsed.high) });
  }

  function clear() {
    onChange({ low: null, high: null });
    // The button goes: one goes on where one would draw others.
    form.current?.querySelector('input')?.focus();
  }

  /** @param {'low' | 'high'} side @param {string} label */
  const field = (side, label) => (
    <div class="field threshold" data-set={thresholds[side] !== null}>
      <label for={`${id}-${side}`}>{label}</label>
      <input
        id={`${id}-${side}`}
        inputmode="decimal"
        autocomplete="off"
        value={typed[side]}
        aria-invalid={wrong !== ''}
        aria-describedby={`${id}-message`}
        onInput={(/** @type {any} */ event) => setTyped({ ...typed, [side]: event.target.value })}
      />
      <span class="threshold-unit">{scale.unit}</span>
    </div>
  );

  return (
    <form class="thresholds" ref={form} aria-label="Thresholds" onSubmit={submit}>
      <span class="thresholds-label">Thresholds</span>
      {field('low', 'Low')} {field('high', 'High')}
      <button type="submit" class="button">
        Draw lines
      </button>
      {children}
      {isSet && (
        <button type="button" class="button quiet-button" onClick={clear}>
          Clear
        </button>
      )}
      <p id={`${id}-message`} class="threshold-message" data-wrong={wrong !== ''}>
        <span role="status">{wrong}</span>
        {!wrong && isSet && overThresholdText(shape, thresholds)}
      </p>
    </form>
  );
}

/** Digits beyond these are the noise of another unit. */
const DIGITS = 12;

/** @param {Thresholds} thresholds @param {Scale} scale */
const textsOf = ({ low, high }, scale) => {
  const text = (/** @type {number | null} */ line) =>
    line === null ? '' : String(isPlain(scale) ? line : Number(toShown(scale, line).toPrecision(DIGITS)));
  return { low: text(low), high: text(high) };
};

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
