import type { Scale } from '../../units.ts';
import { isAsSent, plainScale } from '../../units.ts';
import { differenceScale, limitOf, limitText } from '../shared/limits.ts';
import type { AlarmCondition, AlarmRule, Severity, WantedAlarmRule } from './api.ts';

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

export const KINDS = {
  above: 'above',
  below: 'below',
  outside: 'outside',
  rate: 'changes by more than',
  absent: 'absent for',
};

export interface Typed {
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
export type LimitField = (typeof LIMITS)[number];

/** The scale of limits as sent. */
export const PLAIN = plainScale(null);

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

/** @returns texts of the form, from which `ruleOf` creates an equal rule */
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
  { typed, scale }: { typed: Typed; scale: Scale },
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

export const scopeOf = ({ type, site, device, sensor }: Typed): WantedAlarmRule['scope'] =>
  Object.fromEntries(Object.entries({ type, site, device, sensor }).filter(([, value]) => value !== ''));

/**
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
