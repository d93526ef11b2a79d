import { useEffect, useRef } from 'preact/hooks';
import { formatAge, formatDateTime, hueOf, NOTHING } from '../format.ts';
import { useServices } from '../state/hooks.ts';
import { stateText } from '../states.ts';
import { writeValue } from '../units.ts';

const FADE_MS = 600;
/** More characters than this are written smaller: counters have many digits. */
const LONG = 9;

/** A sensor's newest value with its unit; fades in when it changes. A state is a word. */
export function Value({
  value,
  unit,
  ts,
  name = null,
  type = null,
  recent,
  decimals,
}: {
  value: number | null;
  unit: string | null;
  ts: string | null;
  name?: string | null;
  type?: string | null;
  /** values before it, which fix its prefix and the number of decimals */
  recent: { value: number }[];
  /** at least, where others of its kind stand in the same column */
  decimals?: number;
}) {
  const { preferences } = useServices();
  const { units: choices } = preferences.choice.value;
  const number = useRef<HTMLElement | null>(null);
  useFadeIn(number, ts);
  const state = stateText({ name, type, unit }, value);
  const values = recent.map((sample) => sample.value);
  const written =
    state === null
      ? writeValue(value, unit, { choices, recent: values, decimals })
      : { number: state, unit: '' };
  return (
    <span class="value" data-none={value === null}>
      <span class="value-number" ref={number} data-long={written.number.length > LONG}>
        {written.number}
      </span>
      <span class="value-unit">{written.unit}</span>
    </span>
  );
}

function useFadeIn(element: { current: HTMLElement | null }, ts: string | null) {
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
 * @param props `ts`: ISO 8601; `isAgo`: in a sentence, "12 s ago"
 */
export function Age({ ts, isAgo = false }: { ts: string | null; isAgo?: boolean }) {
  const { clock, preferences } = useServices();
  const now = clock.time.value;
  const { zone } = preferences.choice.value;
  if (ts === null) return <span class="age">{NOTHING}</span>;
  const at = Date.parse(ts);
  const age = now - at;
  return (
    <time class="age" datetime={ts} title={formatDateTime(at, zone)} data-stale={age > STALE_MS}>
      {formatAge(age)}
      {isAgo && age >= 1000 && ' ago'}
    </time>
  );
}

/** A dot in the hue of a sensor's type. */
export const TypeDot = ({ type }: { type: string | null }) => (
  <span class={`type-dot hue-${hueOf(type)}`} aria-hidden="true" />
);
