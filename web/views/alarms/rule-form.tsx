import { useEffect, useId, useState } from 'preact/hooks';
import { toProblem } from '../../api/request.ts';
import type { AlarmCondition, AlarmRule, Backtest, Severity, WantedAlarmRule } from '../../api/types.ts';
import { formatUnit } from '../../format.ts';
import { Cancel, Dialog } from '../../kit/controls.tsx';
import { sensorHref } from '../../routes.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { BacktestStrip } from './backtest.tsx';

/** The backtest waits until nobody types, in ms. */
const REST_MS = 500;

/** The form of a rule, and when it would have fired. */
export function RuleForm({
  rule,
  onSaved,
  onClose,
}: {
  /** null: a new one */
  rule: Partial<AlarmRule> | null;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  const id = useId();
  const [typed, setTyped] = useState(() => typedOf(rule));
  const [result, setResult] = useState<Backtest | null>(null);
  const [message, setMessage] = useState('');
  const wanted = ruleOf(typed);
  // The backtest needs neither, so it does not wait for a name.
  const tested = ruleOf({ ...typed, name: 'test', text: '' });
  const question = tested && JSON.stringify(tested);

  useEffect(() => {
    if (question === null) return setResult(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      client.testAlarmRule(JSON.parse(question), abort.signal).then(
        (answer) => {
          setResult(answer);
          setMessage('');
        },
        (error) => {
          if (!abort.signal.aborted) setMessage(toProblem(error)?.detail ?? '');
        },
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, question]);

  async function submit(event: Event) {
    event.preventDefault();
    if (!wanted) return setMessage('Enter a name, a device, type or site, and a limit.');
    try {
      await client.saveAlarmRule(wanted, rule?.rule_id ?? null);
      onSaved();
    } catch (error) {
      setMessage(toProblem(error)?.detail ?? '');
    }
  }

  const field = (name: keyof Typed, label: string, more: object = {}) => (
    <div class={name === 'text' ? 'dialog-field wide-field' : 'dialog-field'}>
      <label for={`${id}-${name}`}>{label}</label>
      <input
        id={`${id}-${name}`}
        type="text"
        autocomplete="off"
        value={typed[name]}
        onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
        {...more}
      />
    </div>
  );

  const number = (name: keyof Typed, label: string, more?: object) =>
    field(name, label, { inputmode: 'decimal', ...more });

  const select = (name: 'kind' | 'severity', label: string, options: Record<string, string>) => (
    <div class="dialog-field">
      <label for={`${id}-${name}`}>{label}</label>
      <select
        id={`${id}-${name}`}
        value={typed[name]}
        onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
      >
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
  const { kind, device, sensor } = typed;
  // A text that is being typed is not asked for.
  const isKnown = rule?.scope?.device === device && rule.scope.sensor === sensor && sensor !== '';
  const known = isKnown && kind !== 'absent' && kind !== 'rate' ? `${id}-known` : undefined;
  return (
    <Dialog title={rule?.rule_id ? 'Change the rule' : 'A new rule'} wide onClose={onClose}>
      <form class="rule-form" onSubmit={submit}>
        <fieldset class="rule-fields">
          <legend>Which sensors (all that is filled in must match)</legend>
          {field('device', 'Device')}
          {field('sensor', 'Sensor')}
          {field('type', 'Type of sensor')}
          {field('site', 'Site')}
          {isKnown && (
            <a class="link wide-field" href={sensorHref(device, sensor)}>
              Back to the chart of {device} · {sensor}
            </a>
          )}
        </fieldset>
        <fieldset class="rule-fields">
          <legend>When</legend>
          {known && <MeasuredSoFar id={known} device={device} sensor={sensor} />}
          {select('kind', 'Condition', KINDS)}
          {kind !== 'absent' &&
            number('limit', kind === 'outside' ? 'From' : kind === 'rate' ? 'Limit a second' : 'Limit', {
              'aria-describedby': known,
            })}
          {kind === 'outside' && number('high', 'To')}
          {kind !== 'absent' && number('clear', kind === 'outside' ? 'Clears from' : 'Clears at')}
          {kind === 'outside' && number('clearHigh', 'Clears to')}
          {number('minutes', 'Duration in minutes')}
          {kind === 'absent'
            ? number('intervals', 'Or intervals', { placeholder: '3' })
            : number('samples', 'For so many samples')}
        </fieldset>
        {result && (
          <BacktestStrip
            result={result}
            onLimit={(limit) => setTyped({ ...typed, limit: String(limit), clear: '' })}
          />
        )}
        <fieldset class="rule-fields">
          <legend>Then</legend>
          {field('name', 'Name', { autofocus: true })}
          {select('severity', 'Severity', { info: 'info', warning: 'warning', critical: 'critical' })}
          {field('text', 'What to do')}
        </fieldset>
        {message !== '' && (
          <p class="dialog-problem" role="alert">
            {message}
          </p>
        )}
        <div class="dialog-actions">
          <Cancel />
          <button type="submit" class="button main-button">
            Save the rule
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The range of the lowest and the highest value, as that of a backtest. */
const DAYS = 30;

/** Digits beyond these are noise. */
const DIGITS = 6;

/**
 * What a sensor measured so far, in the unit in which the API takes its limit.
 *
 * @param props ids or names; `id` of the element
 */
function MeasuredSoFar({ id, device, sensor }: { id: string; device: string; sensor: string }) {
  const { client } = useServices();
  const { data } = useQuery(`${device}/${sensor}`, async (signal) => {
    const [newest, series] = await Promise.all([
      client.sensor(device, sensor, signal),
      client.series(device, sensor, { from: `-${DAYS}d`, points: 1 }, signal),
    ]);
    return { newest, points: series.points };
  });
  if (!data || data.newest.value === null) return null;
  const { newest, points } = data;
  const unit = formatUnit(newest.unit);
  const written = (value: number | null) => `${Number(Number(value).toPrecision(DIGITS))} ${unit}`.trim();
  return (
    <p class="rule-known" id={id}>
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

const MINUTE_MS = 60_000;

/** The kinds of conditions, in words. */
const KINDS = {
  above: 'above',
  below: 'below',
  outside: 'outside',
  rate: 'changes by more than',
  absent: 'absent for',
};

/** The fields of the form of a rule, as text. */
interface Typed {
  name: string;
  kind: keyof typeof KINDS;
  type: string;
  site: string;
  device: string;
  sensor: string;
  /** for `outside` the lower end of the band */
  limit: string;
  /** the upper end of the band, for `outside` */
  high: string;
  /** for `outside` the lower end of the band */
  clear: string;
  /** the upper end of the band, for `outside` */
  clearHigh: string;
  minutes: string;
  /** for all kinds but `absent` */
  samples: string;
  /** for `absent` */
  intervals: string;
  severity: Severity;
  text: string;
}

const textOf = (value: number | undefined) => (value === undefined ? '' : String(value));

/** @returns NaN: it is empty, or no number */
const numberOf = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')));

/** @returns from which `ruleOf` makes the same rule */
export function typedOf(rule: Partial<AlarmRule> | null): Typed {
  const { scope = {}, condition, name = '', severity = 'warning', text = '' } = rule ?? {};
  const [limit, high] = [condition?.limit ?? []].flat();
  const [clear, clearHigh] = [condition?.clear ?? []].flat();
  return {
    name,
    kind: condition?.kind ?? 'above',
    type: scope.type ?? '',
    site: scope.site ?? '',
    device: scope.device ?? '',
    sensor: scope.sensor ?? '',
    limit: textOf(limit),
    high: textOf(high),
    clear: textOf(clear),
    clearHigh: textOf(clearHigh),
    minutes: condition?.for_ms === undefined ? '' : String(condition.for_ms / MINUTE_MS),
    samples: textOf(condition?.for_samples),
    intervals: textOf(condition?.intervals),
    severity,
    text,
  };
}

/** @returns null: the name, the scope or the limit is missing */
export function ruleOf(typed: Typed): WantedAlarmRule | null {
  const { name, severity, text, type, site, device, sensor } = typed;
  const scope = Object.fromEntries(
    Object.entries({ type, site, device, sensor }).filter(([, value]) => value !== ''),
  );
  const condition = conditionOf(typed);
  if (name === '' || Object.keys(scope).length === 0 || condition === null) return null;
  return { name, scope, condition, severity, ...(text !== '' && { text }) };
}

/**
 * A text that is no number becomes NaN, which JSON has as null. So the API refuses it, and names the member.
 *
 * @returns null: the limit is missing
 */
function conditionOf({
  kind,
  limit,
  high,
  clear,
  clearHigh,
  minutes,
  samples,
  intervals,
}: Typed): AlarmCondition | null {
  const duration = minutes === '' ? {} : { for_ms: Math.round(numberOf(minutes) * MINUTE_MS) };
  if (kind === 'absent')
    return { kind, ...duration, ...(intervals !== '' && { intervals: numberOf(intervals) }) };
  const held = { ...duration, ...(samples !== '' && { for_samples: numberOf(samples) }) };
  const [low, top] = [numberOf(limit), numberOf(high)];
  if (Number.isNaN(low) || (kind === 'outside' && Number.isNaN(top))) return null;
  if (kind !== 'outside')
    return { kind, limit: low, ...(clear !== '' && { clear: numberOf(clear) }), ...held };
  const isBand = clear !== '' || clearHigh !== '';
  const band = [numberOf(clear), numberOf(clearHigh)];
  return {
    kind,
    limit: [low, top],
    ...(isBand && { clear: band as [number, number] }),
    ...held,
  };
}
