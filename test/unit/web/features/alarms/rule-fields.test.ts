import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { peakText } from '../../../../../web/features/alarms/alarm-table.tsx';
import type { AlarmCondition, WantedAlarmRule } from '../../../../../web/features/alarms/api.ts';
import {
  conditionText,
  ruleOf,
  typedIn,
  typedOf,
  withLimit,
} from '../../../../../web/features/alarms/rule-fields.ts';
import { limitOf, limitScale, limitText } from '../../../../../web/features/shared/limits.ts';
import { plainScale } from '../../../../../web/units.ts';

const ruleWith = (condition: AlarmCondition): WantedAlarmRule => ({
  name: 'Freezer too warm',
  scope: { type: 'temperature', site: 'freezer' },
  condition,
  severity: 'critical',
  text: 'Close the door',
});

const CONDITIONS: AlarmCondition[] = [
  { kind: 'above', limit: -15, clear: -17, for_ms: 600_000, for_samples: 3 },
  { kind: 'below', limit: 0, for_ms: 0 },
  { kind: 'outside', limit: [2, 8.5], clear: [3, 7], for_ms: 1000 },
  { kind: 'outside', limit: [-1, 0], for_samples: 10 },
  { kind: 'rate', limit: 0.1, clear: 0.05 },
  { kind: 'absent', intervals: 5 },
  { kind: 'absent', for_ms: 90_000 },
  { kind: 'absent' },
];

test.each(CONDITIONS)(
  'Alarm rule form: condition %j: saving without a change stores an equal rule',
  (condition) => {
    expect(ruleOf(typedOf({ ...ruleWith(condition), rule_id: 'a', version: 1 }))).toEqual(
      ruleWith(condition),
    );
  },
);

test('Alarm rule form: the kind of the condition changes: the request leaves out members of the earlier kind', () => {
  const typed = typedOf(ruleWith({ kind: 'outside', limit: [2, 8], clear: [3, 7], for_samples: 4 }));
  expect(ruleOf({ ...typed, kind: 'absent' })?.condition).toEqual({ kind: 'absent' });
  expect(ruleOf({ ...typed, kind: 'above' })?.condition).toEqual({
    kind: 'above',
    limit: 2,
    clear: 3,
    for_samples: 4,
  });
});

test('Alarm rule form: a limit is typed with a comma as 1,5: the request holds the number 1.5', () => {
  const typed = typedOf(ruleWith({ kind: 'above', limit: 1 }));
  expect(ruleOf({ ...typed, limit: '1,5' })?.condition).toEqual({ kind: 'above', limit: 1.5 });
});

test('Alarm rule form: a suggested limit is chosen: the limit keeps all digits, and the clear value moves with the limit', () => {
  const typed = typedOf(ruleWith({ kind: 'above', limit: 101_300, clear: 101_200 }));
  expect(ruleOf(withLimit(typed, 101_325))?.condition).toEqual({
    kind: 'above',
    limit: 101_325,
    clear: 101_225,
  });
  expect(ruleOf(withLimit({ ...typed, clear: '' }, 101_325))?.condition).toEqual({
    kind: 'above',
    limit: 101_325,
  });
});

test.each(['name', 'limit'] as const)(
  'Alarm rule form: the field %s is empty: the rule cannot be saved',
  (field) => {
    const typed = typedOf(ruleWith({ kind: 'above', limit: 1 }));
    expect(ruleOf({ ...typed, [field]: '' })).toBeNull();
  },
);

test('Alarm rule form: a word typed in place of a number: the request holds null, which the API refuses', () => {
  const typed = typedOf(ruleWith({ kind: 'above', limit: 1 }));
  const rule = ruleOf({ ...typed, clear: 'cold' });
  expect(JSON.parse(JSON.stringify(rule)).condition).toEqual({ kind: 'above', limit: 1, clear: null });
});

describe('Limits in the unit of choice', () => {
  const FAHRENHEIT = limitScale('Cel', { temperature: '°F' });
  const KELVIN = limitScale('[degF]', { temperature: 'K' });

  test.each(CONDITIONS)(
    'Alarm rule form: condition %j shown in °F: saving without a change stores an equal rule',
    (condition) => {
      const rule = ruleWith(condition);
      expect(ruleOf(typedOf(rule, FAHRENHEIT), FAHRENHEIT, rule)).toEqual(rule);
    },
  );

  test('Alarm rule form: °F is chosen: limits and clear values are converted with the offset of the scale', () => {
    const typed = typedOf(ruleWith({ kind: 'outside', limit: [2, 8.5], clear: [3, 7] }), FAHRENHEIT);
    expect(typed).toMatchObject({ limit: '35.6', high: '47.3', clear: '37.4', clearHigh: '44.6' });
    expect(ruleOf({ ...typed, high: '50', clearHigh: '41' }, FAHRENHEIT)?.condition).toEqual({
      kind: 'outside',
      limit: [2, 10],
      clear: [3, 5],
    });
  });

  test('Alarm rule form: °F is chosen: rates are converted without the offset of the scale', () => {
    const rule = ruleWith({ kind: 'rate', limit: 0.1, clear: 0.05 });
    const typed = typedOf(rule, FAHRENHEIT);
    expect(typed).toMatchObject({ limit: '0.18', clear: '0.09' });
    expect(ruleOf({ ...typed, limit: '1.8' }, FAHRENHEIT, rule)?.condition).toEqual({
      kind: 'rate',
      limit: 1,
      clear: 0.05,
    });
  });

  test('Alarm rule form: unit of the sensor is known late, °F is chosen: typed limits are converted, the stored limits stay', () => {
    const rule = ruleWith({ kind: 'above', limit: -15, clear: -17 });
    const before = { typed: { ...typedOf(rule), minutes: '5' }, scale: plainScale(null) };
    const typed = typedIn(FAHRENHEIT, { ...before, scale: plainScale('Cel') }, rule);
    expect(typed).toMatchObject({ limit: '5', clear: '1.4', high: '', minutes: '5' });
    expect(typedIn(FAHRENHEIT, { typed, scale: FAHRENHEIT }, rule)).toBe(typed);
    const back = typedIn(plainScale('Cel'), { typed, scale: FAHRENHEIT }, rule);
    expect(ruleOf(back, plainScale('Cel'), rule)?.condition).toEqual({
      ...rule.condition,
      for_ms: 300_000,
    });
  });

  test('Alarm rule form: unit of the sensor is known late, no other unit is chosen: the typed text stays', () => {
    const typed = { ...typedOf(ruleWith({ kind: 'above', limit: 1 })), limit: '1.' };
    expect(typedIn(plainScale('Cel'), { typed, scale: plainScale(null) })).toBe(typed);
  });

  test('Alarm rule form: a limit has more digits than are shown: saving without a change keeps all digits', () => {
    const rule = ruleWith({ kind: 'above', limit: 0.1 + 0.2 });
    expect(ruleOf(typedOf(rule, FAHRENHEIT), FAHRENHEIT, rule)?.condition).toMatchObject({
      limit: 0.1 + 0.2,
    });
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (limit) => {
        const stored = ruleWith({ kind: 'below', limit });
        for (const scale of [FAHRENHEIT, KELVIN]) {
          expect(ruleOf(typedOf(stored, scale), scale, stored)?.condition).toMatchObject({ limit: limit });
        }
      }),
    );
  });

  test('Alarm limit: typed in °F or K with up to four decimals: the stored limit is shown with the same text', () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_999_999, max: 9_999_999 }), fc.integer({ min: 0, max: 4 }), (n, d) => {
        const text = String(Number((n / 10 ** d).toFixed(d)));
        for (const scale of [FAHRENHEIT, KELVIN])
          expect(limitText(scale, limitOf(scale, text))).toBe(text === '-0' ? '0' : text);
      }),
    );
  });

  test('Alarm rule form: °F is chosen: a suggested limit is stored exactly, in the unit of the sensor', () => {
    const rule = ruleWith({ kind: 'below', limit: 5, clear: 10 });
    const typed = withLimit(typedOf(rule, FAHRENHEIT), 2, FAHRENHEIT, rule);
    expect(typed).toMatchObject({ limit: '35.6', clear: '44.6' });
    expect(ruleOf(typed, FAHRENHEIT)?.condition).toEqual({ kind: 'below', limit: 2, clear: 7 });
  });

  test('Alarm condition in words: °F is chosen: limits are shown in °F, a rate without the offset of the scale', () => {
    const text = (condition: AlarmCondition) => conditionText(condition, FAHRENHEIT);
    expect(text({ kind: 'above', limit: -15, clear: -17, for_ms: 600_000 })).toBe(
      'above 5 °F for 10 min, clears at 1.4 °F',
    );
    expect(text({ kind: 'outside', limit: [2, 8.5], for_samples: 3 })).toBe(
      'outside 35.6 to 47.3 °F for 3 samples',
    );
    expect(text({ kind: 'rate', limit: 0.1 })).toBe('changes by more than 0.18 °F per second');
    expect(text({ kind: 'absent' })).toBe('absent for 3 intervals');
    expect(conditionText({ kind: 'below', limit: 7 }, plainScale(null))).toBe('below 7');
  });

  test('Alarm peak value: °F is chosen: shown in °F, for a rate without offset, for an unknown unit as sent', () => {
    const choices = { temperature: '°F' } as const;
    expect(peakText({ peak: 10, unit: 'Cel', condition: 'above' }, choices)).toBe('50 °F');
    expect(peakText({ peak: 10, unit: 'Cel', condition: 'rate' }, choices)).toBe('18 °F/s');
    expect(peakText({ peak: 10, unit: 'Cel', condition: 'above' }, {})).toBe('10 °C');
    expect(peakText({ peak: 1 / 3, unit: null, condition: 'above' }, choices)).toBe('0.333333');
    expect(peakText({ peak: 10, unit: null, condition: null }, choices)).toBe('10');
    expect(peakText({ peak: null, unit: 'Cel', condition: 'absent' }, choices)).toBe('–');
  });
});
