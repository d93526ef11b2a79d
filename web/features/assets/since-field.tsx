import { useState } from 'preact/hooks';
import { formatField, formatZone, parseField } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import { Field } from '../shared/form.tsx';

/** The beginning of a place in epoch ms. undefined: now; null: the typed time is not complete */
export type Since = number | undefined | null;

/** The API takes the time before all samples as "always". */
export const ALWAYS = 0;

const CHOICES = [
  ['now', 'From this hour on'],
  ['always', 'Always: the old place was wrong'],
  ['time', 'From an earlier time on'],
] as const;

/** Renders the choice of the time from which a new place counts. Hours before it stay with the old place. */
export function SinceField({ onSince }: { onSince: (since: Since) => void }) {
  const { clock, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [kind, setKind] = useState('now');
  const [when, setWhen] = useState(() => formatField(clock.now(), zone));

  function choose(next: string) {
    setKind(next);
    if (next === 'time') onSince(parseField(when, zone));
    else onSince(next === 'always' ? ALWAYS : undefined);
  }

  return (
    <>
      <Field label="Since" value={kind} options={CHOICES} onValue={choose} />
      {kind === 'time' && (
        <Field
          label={`Time, ${formatZone(zone, clock.now())}. It counts from the full hour.`}
          type="datetime-local"
          value={when}
          onValue={(text) => {
            setWhen(text);
            onSince(parseField(text, zone));
          }}
        />
      )}
    </>
  );
}
