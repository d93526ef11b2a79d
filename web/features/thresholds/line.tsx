import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import type { ChartSubject, SampleMarkProps, SignalSubject } from '../../feature.ts';
import { formatCount, formatCounted } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import type { Scale } from '../../units.ts';
import { limitScale, limitText, toSent } from '../shared/limits.ts';
import { createThresholdMarks } from './marks.ts';
import type { Thresholds } from './state.ts';
import {
  countOverThreshold,
  NO_THRESHOLDS,
  parseThresholds,
  readThresholds,
  thresholdSideOf,
  thresholdsIn,
  useThresholds,
} from './state.ts';
import './thresholds.css';

/** Draws the thresholds of a sensor in its chart, and a form below that sets them. */
export function useChart({ sensor, signal }: ChartSubject) {
  const { units } = useServices().preferences.choice.value;
  const { thresholds, change } = useThresholds(sensor && signal ? keyOf(sensor) : '');
  const marks = useMemo(createThresholdMarks, []);
  const { low, high } = signal?.scale ? thresholdsIn(thresholds, signal.scale) : NO_THRESHOLDS;
  useEffect(() => marks.set({ low, high }), [marks, low, high]);
  const foot = signal?.scale && (
    <ThresholdForm
      thresholds={thresholds}
      onChange={change}
      shape={signal.sent}
      scale={limitScale(signal.unit, units)}
    />
  );
  return { plugins: marks.plugins, foot };
}

const WORDS = { low: '▼ low', high: '▲ high', both: '▲▼ both' };

/** Renders a mark for values over the thresholds of the user. */
export function SampleMark({ min, max, scale }: SampleMarkProps) {
  const { query } = useServices().router.place.value;
  if (!scale) return null;
  const side = thresholdSideOf(min, max, thresholdsIn(readThresholds(query), scale));
  return (
    side && (
      <>
        <span class="over-threshold">{WORDS[side]}</span>{' '}
      </>
    )
  );
}

function ThresholdForm({
  thresholds,
  onChange,
  shape,
  scale,
}: {
  thresholds: Thresholds;
  onChange: (next: Thresholds) => void;
  /** the shape with values as the sensor sends them */
  shape: SignalSubject['sent'];
  /** scale in which users type thresholds */
  scale: Scale;
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
      <span class="threshold-unit small">{scale.unit}</span>
    </div>
  );

  return (
    <form class="thresholds" ref={form} aria-label="Thresholds" onSubmit={submit}>
      <span class="thresholds-label small">Thresholds</span>
      {field('low', 'Low')} {field('high', 'High')}
      <button type="submit" class="button">
        Draw lines
      </button>
      {isSet && (
        <button type="button" class="button quiet-button" onClick={clear}>
          Clear
        </button>
      )}
      <p id={`${id}-message`} class="threshold-message small" data-wrong={wrong !== ''}>
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

function overThresholdText(shape: SignalSubject['sent'], thresholds: Thresholds) {
  const { low, high } = countOverThreshold(shape, thresholds);
  const all = `of ${formatCounted(shape.ts.length, shape.stepMs === null ? 'sample' : 'point')}`;
  const said = [
    ...(thresholds.low === null ? [] : [`${formatCount(low)} ${all} below low`]),
    ...(thresholds.high === null ? [] : [`${formatCount(high)} ${all} above high`]),
  ];
  return said.join(', ');
}
