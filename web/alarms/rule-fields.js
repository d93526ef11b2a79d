/** @import { AlarmCondition, AlarmRule, Severity, WantedAlarmRule } from '../api/types.js' */

const MINUTE_MS = 60_000;

/** The kinds of conditions, in words. */
export const KINDS = {
  above: 'above',
  below: 'below',
  outside: 'outside',
  rate: 'changes by more than',
  absent: 'absent for',
};

/**
 * The fields of the form of a rule, as text.
 *
 * @typedef {object} Typed
 * @property {string} name
 * @property {keyof typeof KINDS} kind
 * @property {string} type
 * @property {string} site
 * @property {string} device
 * @property {string} sensor
 * @property {string} limit for `outside` the lower end of the band
 * @property {string} high the upper end of the band, for `outside`
 * @property {string} clear for `outside` the lower end of the band
 * @property {string} clearHigh the upper end of the band, for `outside`
 * @property {string} minutes
 * @property {string} samples for all kinds but `absent`
 * @property {string} intervals for `absent`
 * @property {Severity} severity
 * @property {string} text
 */

/** @param {number | undefined} value */
const textOf = (value) => (value === undefined ? '' : String(value));

/** @param {string} text @returns {number} NaN: it is empty, or no number */
const numberOf = (text) => (text.trim() === '' ? Number.NaN : Number(text.replace(',', '.')));

/**
 * @param {Partial<AlarmRule> | null} rule
 * @returns {Typed} from which `ruleOf` makes the same rule
 */
export function typedOf(rule) {
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

/** @param {Typed} typed @returns {WantedAlarmRule | null} null: the name, the scope or the limit is missing */
export function ruleOf(typed) {
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
 * @param {Typed} typed
 * @returns {AlarmCondition | null} null: the limit is missing
 */
function conditionOf({ kind, limit, high, clear, clearHigh, minutes, samples, intervals }) {
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
    ...(isBand && { clear: /** @type {[number, number]} */ (band) }),
    ...held,
  };
}
