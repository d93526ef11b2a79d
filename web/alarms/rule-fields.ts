import type { AlarmCondition, AlarmRule, Severity, WantedAlarmRule } from '../api/types.ts';

const MINUTE_MS = 60_000;

/** The kinds of conditions, in words. */
export const KINDS = {
  above: 'above',
  below: 'below',
  outside: 'outside',
  rate: 'changes by more than',
  absent: 'absent for',
};

/** The fields of the form of a rule, as text. */
export interface Typed {
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
