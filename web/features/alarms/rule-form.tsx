import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { problemText } from '../../api/request.ts';
import { formatUnit } from '../../format.ts';
import { Cancel, Dialog } from '../../kit/controls.tsx';
import { sensorHref } from '../../routes.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { Scale } from '../../units.ts';
import {
  differenceScale,
  isAsSent,
  limitOf,
  limitScale,
  limitText,
  plainScale,
  roundedText,
} from '../../units.ts';
import type { AlarmCondition, AlarmRule, Backtest, Severity, WantedAlarmRule } from './api.ts';
import { saveRule, testRule } from './api.ts';
import { BacktestStrip } from './backtest.tsx';
import type { ScopeUnit } from './state.ts';
import { scopeKey, useScopeUnits } from './state.ts';

/** Pause in typing before a backtest, in ms. */
const REST_MS = 500;

export function RuleForm({
  rule,
  onSaved,
  onClose,
}: {
  /** the rule to change; `{}`: a new rule */
  rule: Partial<AlarmRule>;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { client } = useServices();
  const id = useId();
  const { typed, scale, unit, scope, setTyped } = useForm(rule);
  const [message, setMessage] = useState('');
  const [busy, setBusy] = useState(false);
  const wanted = ruleOf(typed, scale, rule);
  // The backtest needs no name and no text, so it runs before the user has typed them.
  const tested = ruleOf({ ...typed, name: 'test', text: '' }, scale, rule);
  const question = tested && JSON.stringify(tested);

  const test = useBacktest(question, setMessage);

  async function submit(event: Event) {
    event.preventDefault();
    if (!wanted) return setMessage('Enter a name, a device, type or site, and a limit.');
    setBusy(true);
    try {
      await saveRule(client, wanted, rule.rule_id ?? null);
      onSaved();
    } catch (error) {
      setMessage(problemText(error));
      setBusy(false);
    }
  }

  const fields = fieldsOf(id, typed, setTyped);
  const { kind, device, sensor } = typed;
  // While the form reads the unit of newly typed sensors, the unit of a typed limit is unknown.
  const isInUnit = scope === scopeKey(scopeOf(typed));
  // While the user types another sensor, the form requests no values.
  const isKnown = rule.scope?.device === device && rule.scope.sensor === sensor && sensor !== '';
  const known = isKnown && kind !== 'absent' && kind !== 'rate' ? `${id}-known` : undefined;
  return (
    <Dialog title={rule.rule_id ? 'Change the rule' : 'A new rule'} wide busy={busy} onClose={onClose}>
      <form class="rule-form" onSubmit={submit}>
        <fieldset class="rule-fields">
          <legend>
            Which sensors
            <Required />
          </legend>
          <p class="rule-hint">Fill in at least one. All that is filled in must match.</p>
          {fields.field('device', 'Device', { autofocus: true })}
          {fields.field('sensor', 'Sensor')}
          {fields.field('type', 'Type of sensor')}
          {fields.field('site', 'Site')}
          {isKnown && (
            <a class="link wide-field" href={sensorHref(device, sensor)}>
              Back to the chart of {device} · {sensor}
            </a>
          )}
        </fieldset>
        <ConditionFields {...{ kind, known, fields }} note={unitText(unit, scale)} unit={scale.unit}>
          {known && <MeasuredSoFar id={known} device={device} sensor={sensor} />}
        </ConditionFields>
        {test && (
          <BacktestStrip
            result={test.result}
            isOld={test.question !== question}
            scale={scale}
            onLimit={(next) => setTyped(withLimit(typed, next, scale, rule))}
          />
        )}
        <fieldset class="rule-fields">
          <legend>Then</legend>
          {fields.field('name', 'Name', { 'aria-required': true })}
          {fields.select('severity', 'Severity', { info: 'info', warning: 'warning', critical: 'critical' })}
          {fields.field('text', 'What to do')}
        </fieldset>
        {message !== '' && (
          <p class="dialog-problem" role="alert">
            {message}
          </p>
        )}
        <div class="dialog-actions">
          <p class="rule-hint">
            <Required /> required
          </p>
          <Cancel disabled={busy} />
          <button type="submit" class="button main-button" disabled={busy || !isInUnit}>
            Save the rule
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Keeps the typed texts, and the scale of their limits. */
function useForm(rule: Partial<AlarmRule>) {
  const { units } = useServices().preferences.choice.value;
  const [form, setForm] = useState<Form>(() => ({
    typed: typedOf(rule),
    scale: PLAIN,
    unit: null,
    scope: null,
  }));
  const setTyped = (next: Typed) => setForm((now) => ({ ...now, typed: next }));
  const { sent, sentScope } = useUnit(form.typed);
  useEffect(() => {
    if (sentScope === null) return;
    const next = !sent || sent.isMixed ? PLAIN : limitScale(sent.unit, units);
    setForm((now) => ({ typed: typedIn(next, now, rule), scale: next, unit: sent, scope: sentScope }));
  }, [sentScope, sent?.unit, sent?.isMixed, units]);

  return { ...form, setTyped };
}

/** Tests a rule after a pause in typing. @param question the rule as JSON; null: it is not complete */
function useBacktest(question: string | null, setMessage: (message: string) => void) {
  const { client } = useServices();
  const [test, setTest] = useState<{ question: string; result: Backtest } | null>(null);
  useEffect(() => {
    if (question === null) return setTest(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      testRule(client, JSON.parse(question), abort.signal).then(
        (result) => {
          setTest({ question, result });
          setMessage('');
        },
        (error) => {
          if (abort.signal.aborted) return;
          // The figures of the earlier limits do not apply to the new limits.
          setTest(null);
          setMessage(problemText(error));
        },
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, question]);
  return test;
}

/** @returns functions that render the fields of the form */
function fieldsOf(id: string, typed: Typed, setTyped: (next: Typed) => void) {
  const field = (name: keyof Typed, label: string, more: object = {}) => (
    <div class={name === 'text' ? 'dialog-field wide-field' : 'dialog-field'}>
      <label for={`${id}-${name}`}>
        {label}
        {'aria-required' in more && <Required />}
      </label>
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

  return { field, number, select };
}

function ConditionFields({
  kind,
  known,
  note,
  unit,
  fields: { number, select },
  children,
}: {
  kind: Typed['kind'];
  /** id of the element with the measured values */
  known: string | undefined;
  note: string;
  unit: string;
  fields: ReturnType<typeof fieldsOf>;
  children: ComponentChildren;
}) {
  const suffix = [unit, kind === 'rate' ? 'per second' : ''].filter(Boolean).join(' ');
  const inUnit = suffix && `, ${suffix}`;
  const limit = (name: LimitField, label: string, more?: object) => number(name, `${label}${inUnit}`, more);
  return (
    <fieldset class="rule-fields">
      <legend>When</legend>
      {kind !== 'absent' && note && <p class="rule-hint">{note}</p>}
      {children}
      {select('kind', 'Condition', KINDS)}
      {kind !== 'absent' &&
        limit('limit', kind === 'outside' ? 'From' : 'Limit', {
          'aria-describedby': known,
          'aria-required': true,
        })}
      {kind === 'outside' && limit('high', 'To', { 'aria-required': true })}
      {kind !== 'absent' && limit('clear', kind === 'outside' ? 'Clears from' : 'Clears at')}
      {kind === 'outside' && limit('clearHigh', 'Clears to')}
      {number('minutes', 'Duration in minutes')}
      {kind === 'absent'
        ? number('intervals', 'Or number of intervals', { placeholder: '3' })
        : number('samples', 'Consecutive samples')}
    </fieldset>
  );
}

/** Marks a field that must be filled in. Screen readers know it from the field. */
const Required = () => (
  <span class="required" aria-hidden="true">
    *
  </span>
);

/** Number of days of which the form shows the lowest and highest value, equal to that of a backtest. */
const DAYS = 30;

/**
 * Renders the newest, lowest and highest value of a sensor, in the unit in which its limit is typed.
 *
 * @param props `device` and `sensor`: ids or names; `id`: id of the element
 */
function MeasuredSoFar({ id, device, sensor }: { id: string; device: string; sensor: string }) {
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

/**
 * Reads the unit of the typed sensors after a pause in typing.
 *
 * @returns `sent`: the unit, null: there are no such sensors; `sentScope`: `scopeKey` of these sensors, null: unknown yet
 */
function useUnit(typed: Typed): { sent: ScopeUnit | null; sentScope: string | null } {
  const scope = scopeOf(typed);
  const key = scopeKey(scope);
  const [meant, setMeant] = useState(scope);
  useEffect(() => {
    const timer = setTimeout(() => setMeant(scope), REST_MS);
    return () => clearTimeout(timer);
  }, [key]);
  const { units, loading } = useScopeUnits(Object.keys(meant).length > 0 ? [meant] : NO_SCOPES);
  return { sent: units.get(scopeKey(meant)) ?? null, sentScope: loading ? null : scopeKey(meant) };
}

const NO_SCOPES: never[] = [];

/** @returns text about the unit of the limits */
function unitText(sent: ScopeUnit | null, scale: Scale): string {
  if (sent?.isMixed) {
    return 'These sensors send several units. Millrace compares each value with the limit in the unit of its own sensor.';
  }
  if (scale === PLAIN) return 'Limits are in the unit that the sensor sends.';
  return isAsSent(scale)
    ? ''
    : `Millrace stores limits in ${formatUnit(sent?.unit)}, the unit that the sensor sends.`;
}

const MINUTE_MS = 60_000;

export function conditionText(condition: AlarmCondition, scale: Scale): string {
  const { kind, for_ms } = condition;
  const held = for_ms ? ` for ${Number((for_ms / MINUTE_MS).toPrecision(3))} min` : '';
  if (condition.kind === 'absent')
    return for_ms ? `absent${held}` : `absent for ${condition.intervals ?? 3} intervals`;
  const { limit, clear, for_samples } = condition;
  const unit = `${scale.unit && ` ${scale.unit}`}${kind === 'rate' ? ' per second' : ''}`;
  const written = (limits: number | number[]) =>
    `${[limits]
      .flat()
      .map((sent) => limitText(scaleOfKind(scale, kind), sent))
      .join(' to ')}${unit}`;
  const samples = for_samples ? ` for ${for_samples} samples` : '';
  const cleared = clear === undefined ? '' : `, clears at ${written(clear)}`;
  return `${KINDS[kind]} ${written(limit)}${held}${samples}${cleared}`;
}

/** The texts for the kinds of conditions. */
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
  /** limit; for `outside` the lower end of the band */
  limit: string;
  /** only for `outside`: upper end of the band */
  high: string;
  /** value at which the alarm clears; for `outside` the lower end of the band */
  clear: string;
  /** only for `outside`: upper end of the band in which the alarm clears */
  clearHigh: string;
  minutes: string;
  /** number of samples, for all kinds except `absent` */
  samples: string;
  /** number of intervals, only for `absent` */
  intervals: string;
  severity: Severity;
  text: string;
}

const LIMITS = ['limit', 'high', 'clear', 'clearHigh'] as const;
type LimitField = (typeof LIMITS)[number];

/**
 * `scale`: scale of the typed limits; `unit`: sent unit, null: unknown; `scope`: `scopeKey` of the sensors with that
 * unit, null: unknown yet
 */
type Form = { typed: Typed; scale: Scale; unit: ScopeUnit | null; scope: string | null };

/** The scale of limits as sent. */
const PLAIN = plainScale(null);

/** @param scale scale of the values; the scale of a rate has no offset */
const scaleOfKind = (scale: Scale, kind: Typed['kind']): Scale =>
  kind === 'rate' ? differenceScale(scale) : scale;

/** @returns stored limits of a rule, by form field */
function limitsOf({ condition }: Pick<Partial<AlarmRule>, 'condition'>): { [field in LimitField]?: number } {
  const limited = condition?.kind === 'absent' ? undefined : condition;
  const [limit, high] = [limited?.limit ?? []].flat();
  const [clear, clearHigh] = [limited?.clear ?? []].flat();
  return {
    ...(limit !== undefined && { limit }),
    ...(high !== undefined && { high }),
    ...(clear !== undefined && { clear }),
    ...(clearHigh !== undefined && { clearHigh }),
  };
}

const textOf = (value: number | undefined) => (value === undefined ? '' : String(value));

/** @returns the number; NaN: the text is empty or no number */
const numberOf = (text: string): number => limitOf(PLAIN, text);

/**
 * @param scale scale in which the limits are typed
 * @returns texts of the form, from which `ruleOf` creates an equal rule
 */
export function typedOf(rule: Partial<AlarmRule>, scale: Scale = PLAIN): Typed {
  const { scope = {}, condition, name = '', severity = 'warning', text = '' } = rule;
  const kind = condition?.kind ?? 'above';
  const limits = limitsOf(rule);
  const limitIn = (field: LimitField) => {
    const sent = limits[field];
    return sent === undefined ? '' : limitText(scaleOfKind(scale, kind), sent);
  };
  return {
    name,
    kind,
    type: scope.type ?? '',
    site: scope.site ?? '',
    device: scope.device ?? '',
    sensor: scope.sensor ?? '',
    limit: limitIn('limit'),
    high: limitIn('high'),
    clear: limitIn('clear'),
    clearHigh: limitIn('clearHigh'),
    minutes: condition?.for_ms === undefined ? '' : String(condition.for_ms / MINUTE_MS),
    samples: textOf(condition?.kind === 'absent' ? undefined : condition?.for_samples),
    intervals: textOf(condition?.kind === 'absent' ? condition.intervals : undefined),
    severity,
    text,
  };
}

/**
 * Converts the typed texts to another scale. If the shown unit stays, the texts do not change.
 *
 * @param before the rule as stored
 */
export function typedIn(
  next: Scale,
  { typed, scale }: Pick<Form, 'typed' | 'scale'>,
  before: Partial<AlarmRule> = {},
): Typed {
  // If the unit stays, an incomplete text such as `1.` must not change.
  if (scale.unit === next.unit || (isAsSent(scale) && isAsSent(next))) return typed;
  const [from, to] = [scaleOfKind(scale, typed.kind), scaleOfKind(next, typed.kind)];
  const known = limitsOf(before);
  const changed = LIMITS.map((field) => {
    const sent = limitOf(from, typed[field], known[field]);
    return [field, Number.isNaN(sent) ? typed[field] : limitText(to, sent)];
  });
  return { ...typed, ...Object.fromEntries(changed) };
}

/**
 * Replaces the limit. The clear value moves by the same difference as the limit, because the backtest counted with this
 * hysteresis.
 *
 * @param limit limit in the unit that the sensor sends
 * @param before the rule as stored
 */
export function withLimit(
  typed: Typed,
  limit: number,
  scale: Scale = PLAIN,
  before: Partial<AlarmRule> = {},
): Typed {
  const known = limitsOf(before);
  const sent = (field: 'limit' | 'clear') => limitOf(scale, typed[field], known[field]);
  const clear = sent('clear') + (limit - sent('limit'));
  return {
    ...typed,
    limit: limitText(scale, limit),
    clear: Number.isNaN(clear) ? typed.clear : limitText(scale, Number(clear.toPrecision(15))),
  };
}

/** @returns the filled-in fields of the scope */
const scopeOf = ({ type, site, device, sensor }: Typed): WantedAlarmRule['scope'] =>
  Object.fromEntries(Object.entries({ type, site, device, sensor }).filter(([, value]) => value !== ''));

/**
 * @param scale scale in which the limits are typed
 * @param before the stored rule; an unchanged text gives exactly the stored limit
 * @returns the rule; null: the name, the scope or the limit is missing
 */
export function ruleOf(
  typed: Typed,
  scale: Scale = PLAIN,
  before: Partial<AlarmRule> = {},
): WantedAlarmRule | null {
  const { name, severity, text } = typed;
  const scope = scopeOf(typed);
  const condition = conditionOf(typed, scale, limitsOf(before));
  if (name === '' || Object.keys(scope).length === 0 || condition === null) return null;
  return { name, scope, condition, severity, ...(text !== '' && { text }) };
}

/**
 * Creates the condition of a rule. A text that is no number becomes NaN, which JSON writes as null. The API then refuses the
 * rule, and names the invalid member.
 *
 * @returns null: the limit is missing
 */
function conditionOf(
  typed: Typed,
  scale: Scale,
  known: { [field in LimitField]?: number },
): AlarmCondition | null {
  const { kind, clear, clearHigh, minutes, samples, intervals } = typed;
  const sent = (field: LimitField) => limitOf(scaleOfKind(scale, kind), typed[field], known[field]);
  const duration = minutes === '' ? {} : { for_ms: Math.round(numberOf(minutes) * MINUTE_MS) };
  if (kind === 'absent')
    return { kind, ...duration, ...(intervals !== '' && { intervals: numberOf(intervals) }) };
  const held = { ...duration, ...(samples !== '' && { for_samples: numberOf(samples) }) };
  const [low, top] = [sent('limit'), sent('high')];
  if (Number.isNaN(low) || (kind === 'outside' && Number.isNaN(top))) return null;
  if (kind !== 'outside') return { kind, limit: low, ...(clear !== '' && { clear: sent('clear') }), ...held };
  const isBand = clear !== '' || clearHigh !== '';
  const band = [sent('clear'), sent('clearHigh')];
  return {
    kind,
    limit: [low, top],
    ...(isBand && { clear: band as [number, number] }),
    ...held,
  };
}
