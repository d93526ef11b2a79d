import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Shape } from '../../chart/shape.ts';
import { formatCount, formatCounted, formatUnit } from '../../format.ts';
import { Choice } from '../../kit/controls.tsx';
import { useServices } from '../../state/hooks.ts';
import type { Thresholds } from '../../state/thresholds.ts';
import { countOverThreshold, parseThresholds } from '../../state/thresholds.ts';
import type { Scale } from '../../units.ts';
import { limitText, quantityOf, toSent, unitsOf } from '../../units.ts';

const KINDS = [
  { value: 'value', label: 'Value' },
  { value: 'rate', label: 'Rate', title: 'How much it rises in a time' },
];

/** Renders the choices for the chart of a sensor: unit, and value or rate of a counter. If there is nothing to choose, nothing is shown. */
export function SignalOptions({
  unit,
  isCounter,
}: {
  /** unit as the sensor sends it */
  unit: string | null;
  isCounter: boolean;
}) {
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
          onChange={(value: string) =>
            router.changeQuery({ as: value === 'rate' ? value : null }, { replace: true })
          }
        />
      )}
      <UnitChoice unit={unit} />
    </>
  );
}

/**
 * Renders the choice of the unit for a quantity, which applies to all views in this browser.
 *
 * @param props `unit`: unit as the sensor sends it
 */
function UnitChoice({ unit }: { unit: string | null }) {
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
        onChange={(event) =>
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

export function ThresholdForm({
  thresholds,
  onChange,
  shape,
  scale,
  children,
}: {
  thresholds: Thresholds;
  onChange: (next: Thresholds) => void;
  /** the shape with values as the sensor sends them */
  shape: Shape;
  /** scale in which users type thresholds */
  scale: Scale;
  /** further buttons next to *Draw lines* */
  children?: ComponentChildren;
}) {
  const id = useId();
  const [typed, setTyped] = useState(textsOf(thresholds, scale));
  const [wrong, setWrong] = useState('');
  // The Back button, a link or stored thresholds may change the address, so the fields adopt the new thresholds.
  useEffect(() => {
    setTyped(textsOf(thresholds, scale));
    setWrong('');
  }, [thresholds.low, thresholds.high, scale.unit]);
  const form = useRef<HTMLFormElement | null>(null);
  const sent = (line: number | null) => (line === null ? null : toSent(scale, line));
  const isSet = thresholds.low !== null || thresholds.high !== null;

  function submit(event: Event) {
    event.preventDefault();
    const parsed = parseThresholds(typed);
    setWrong(typeof parsed === 'string' ? parsed : '');
    if (typeof parsed !== 'string') onChange({ low: sent(parsed.low), high: sent(parsed.high) });
  }

  function clear() {
    onChange({ low: null, high: null });
    // The pressed button is removed, so the focus moves to the field of a new line.
    form.current?.querySelector('input')?.focus();
  }

  const field = (side: 'low' | 'high', label: string) => (
    <div class="field threshold" data-set={thresholds[side] !== null}>
      <label for={`${id}-${side}`}>{label}</label>
      <input
        id={`${id}-${side}`}
        inputmode="decimal"
        autocomplete="off"
        value={typed[side]}
        aria-invalid={wrong !== ''}
        aria-describedby={`${id}-message`}
        onInput={(event) => setTyped({ ...typed, [side]: event.currentTarget.value })}
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

const textsOf = ({ low, high }: Thresholds, scale: Scale) => {
  const text = (line: number | null) => (line === null ? '' : limitText(scale, line));
  return { low: text(low), high: text(high) };
};

function overThresholdText(shape: Shape, thresholds: Thresholds) {
  const { low, high } = countOverThreshold(shape, thresholds);
  const all = `of ${formatCounted(shape.ts.length, shape.stepMs === null ? 'sample' : 'point')}`;
  const said = [
    ...(thresholds.low === null ? [] : [`${formatCount(low)} ${all} below low`]),
    ...(thresholds.high === null ? [] : [`${formatCount(high)} ${all} above high`]),
  ];
  return said.join(', ');
}
