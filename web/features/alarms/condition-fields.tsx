import type { ComponentChildren } from 'preact';
import { useQuery, useServices } from '../../state/hooks.ts';
import { Field } from '../shared/form.tsx';
import { limitScale, roundedText } from '../shared/limits.ts';
import type { LimitField, Typed } from './rule-fields.ts';
import { KINDS } from './rule-fields.ts';

export const fieldOf =
  (typed: Typed, setTyped: (next: Typed) => void) =>
  (name: keyof Typed, label: string, more: object = {}) => (
    <Field
      label={label}
      value={typed[name]}
      onValue={(value) => setTyped({ ...typed, [name]: value })}
      {...more}
    />
  );

export function ConditionFields({
  kind,
  known,
  note,
  unit,
  field,
  children,
}: {
  kind: Typed['kind'];
  /** id of the element with the measured values */
  known: string | undefined;
  note: string;
  unit: string;
  field: ReturnType<typeof fieldOf>;
  children: ComponentChildren;
}) {
  const suffix = [unit, kind === 'rate' ? 'per second' : ''].filter(Boolean).join(' ');
  const inUnit = suffix && `, ${suffix}`;
  const number = (name: keyof Typed, label: string, more?: object) =>
    field(name, label, { inputmode: 'decimal', ...more });
  const limit = (name: LimitField, label: string, more?: object) => number(name, `${label}${inUnit}`, more);
  return (
    <fieldset class="rule-fields">
      <legend>When</legend>
      {kind !== 'absent' && note && <p class="rule-hint small">{note}</p>}
      {children}
      {field('kind', 'Condition', { options: Object.entries(KINDS) })}
      {kind !== 'absent' &&
        limit('limit', kind === 'outside' ? 'From' : 'Limit', {
          'aria-describedby': known,
          required: true,
        })}
      {kind === 'outside' && limit('high', 'To', { required: true })}
      {kind !== 'absent' && limit('clear', kind === 'outside' ? 'Clears from' : 'Clears at')}
      {kind === 'outside' && limit('clearHigh', 'Clears to')}
      {number('minutes', 'Duration in minutes')}
      {kind === 'absent'
        ? number('intervals', 'Or number of intervals', { placeholder: '3' })
        : number('samples', 'Consecutive samples')}
    </fieldset>
  );
}

/** Number of days of which the form shows the lowest and highest value, equal to that of a backtest. */
const DAYS = 30;

/**
 * Renders the newest, lowest and highest value of a sensor, in the unit in which its limit is typed.
 *
 * @param props `device` and `sensor`: ids or names; `id`: id of the element
 */
export function MeasuredSoFar({ id, device, sensor }: { id: string; device: string; sensor: string }) {
  const { client, preferences } = useServices();
  const { data } = useQuery(`${device}/${sensor}`, async (signal) => {
    const [newest, series] = await Promise.all([
      client.sensor(device, sensor, signal),
      client.series(device, sensor, { from: `-${DAYS}d`, points: 1 }, signal),
    ]);
    return { newest, points: series.points };
  });
  if (!data || data.newest.value === null) return null;
  const { newest, points } = data;
  const scale = limitScale(newest.unit, preferences.choice.value.units);
  const written = (value: number | null) => roundedText(scale, Number(value));
  return (
    <p class="rule-known small" id={id}>
      <span>
        Newest <strong>{written(newest.value)}</strong>
      </span>
      {points.length > 0 && (
        <>
          <span>
            Lowest <strong>{written(Math.min(...points.map(({ min }) => min)))}</strong>
          </span>
          <span>
            Highest <strong>{written(Math.max(...points.map(({ max }) => max)))}</strong>
          </span>
        </>
      )}
    </p>
  );
}
