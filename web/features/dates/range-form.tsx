import { useId, useMemo, useState } from 'preact/hooks';
import { parseAgo, typedWindow } from '../../chart/window.ts';
import type { RangeFormProps } from '../../feature.ts';
import type { Zone, ZoneName } from '../../format.ts';
import { createZone, formatField, formatZone, isNamedZone, LOCAL, parseField } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import './dates.css';

export function RangeForm({ id, window, bounds, onChange, onLive }: RangeFormProps) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [opened] = useState({
    from: formatField(window.from, zone),
    to: formatField(window.to, zone),
    live: window.live,
  });
  const [typed, setTyped] = useState({ from: opened.from, to: opened.to });
  const [wrong, setWrong] = useState('');
  const problem = useId();

  function submit(event: Event) {
    event.preventDefault();
    // If the user did not change the end of a live range, the range stays live.
    const endsNow = opened.live && typed.to === opened.to;
    const range = readRange(typed, zone, bounds.now);
    setWrong(typeof range === 'string' ? range : '');
    if (typeof range === 'string') return;
    onChange(typedWindow(endsNow ? { ...range, to: bounds.now } : range, bounds.now));
  }

  const field = (name: 'from' | 'to', label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="datetime-local"
        step="1"
        required
        value={typed[name]}
        aria-invalid={wrong !== ''}
        aria-describedby={wrong ? problem : undefined}
        onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      />
    </label>
  );

  return (
    <div id={id}>
      <form class="range-form" aria-label="Range" onSubmit={submit}>
        {field('from', 'From')}
        {field('to', 'To')}
        <ZoneChoice at={window.to} />
        <button type="submit" class="button">
          Show
        </button>
        {wrong && (
          <p id={problem} class="range-form-wrong" role="alert">
            {wrong}
          </p>
        )}
      </form>
      <RelativeForm
        now={bounds.now}
        onLive={onLive}
        onChange={(range) => onChange(typedWindow(range, bounds.now))}
      />
    </div>
  );
}

/** Renders the choice among all time zones that the browser knows. Local and UTC come first. */
function ZoneChoice({ at }: { at: number }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const id = useId();
  // This browser may list the zone under another name than the browser in which the user chose the zone.
  const names = useMemo(
    () => [...new Set([...Intl.supportedValuesOf('timeZone'), zone.name])].filter(isNamedZone).sort(),
    [zone],
  );
  return (
    <span class="range-form-label">
      <label for={id}>Time zone</label>
      <select
        id={id}
        class="range-form-zone"
        value={zone.name}
        onChange={(event) => preferences.change({ zone: createZone(event.currentTarget.value as ZoneName) })}
      >
        <option value="local">Local ({formatZone(LOCAL, at)})</option>
        <option value="utc">UTC</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </span>
  );
}

/** Renders two fields for times relative to now, written as in an address. A range that ends now is live. */
function RelativeForm({
  now,
  onLive,
  onChange,
}: {
  now: number;
  onLive: (ms: number) => void;
  onChange: (range: { from: number; to: number }) => void;
}) {
  const [typed, setTyped] = useState({ from: '-1h', to: 'now' });
  const [wrong, setWrong] = useState(false);
  const problem = useId();

  function submit(event: Event) {
    event.preventDefault();
    const [from, to] = [parseAgo(typed.from.trim()), parseAgo(typed.to.trim())];
    const isWrong = from === null || to === null || from <= to;
    setWrong(isWrong);
    if (isWrong) return;
    if (to === 0) onLive(from);
    else onChange({ from: now - from, to: now - to });
  }

  const field = (name: 'from' | 'to', label: string) => (
    <label>
      <span>{label}</span>
      <input
        type="text"
        class="range-form-ago"
        autocomplete="off"
        spellcheck={false}
        value={typed[name]}
        aria-invalid={wrong}
        aria-describedby={wrong ? problem : undefined}
        onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      />
    </label>
  );

  return (
    <form class="range-form" aria-label="Before now" onSubmit={submit}>
      <span class="range-form-label">Before now</span>
      {field('from', 'Start')}
      {field('to', 'End')}
      <button type="submit" class="button">
        Show
      </button>
      {wrong && (
        <p id={problem} class="range-form-wrong" role="alert">
          Write times such as -90s, -15m, -1h, -7d or now. The start has to be before the end.
        </p>
      )}
    </form>
  );
}

/** Reads the typed range. @returns the range, or the reason why the range is invalid */
function readRange(
  typed: { from: string; to: string },
  zone: Zone,
  now: number,
): { from: number; to: number } | string {
  const [from, to] = [parseField(typed.from, zone), parseField(typed.to, zone)];
  if (from === null || to === null) return 'Fill in a date and a time in both fields.';
  if (from >= to) return 'From has to be before to.';
  return from < now ? { from, to } : 'From has to be before now.';
}
