import { expect, test } from '@jest/globals';
import { ruleOf, typedOf } from '../../../../web/views/alarms/rule-form.tsx';

/** @import { AlarmCondition, WantedAlarmRule } from '../../../../web/api/types.ts' */

/** @param {AlarmCondition} condition @returns {WantedAlarmRule} */
const ruleWith = (condition) => ({
  name: 'Freezer too warm',
  scope: { type: 'temperature', site: 'freezer' },
  condition,
  severity: 'critical',
  text: 'Close the door',
});

/** @type {AlarmCondition[]} */
const CONDITIONS = [
  { kind: 'above', limit: -15, clear: -17, for_ms: 600_000, for_samples: 3 },
  { kind: 'below', limit: 0, for_ms: 0 },
  { kind: 'outside', limit: [2, 8.5], clear: [3, 7], for_ms: 1000 },
  { kind: 'outside', limit: [-1, 0], for_samples: 10 },
  { kind: 'rate', limit: 0.1, clear: 0.05 },
  { kind: 'absent', intervals: 5 },
  { kind: 'absent', for_ms: 90_000 },
  { kind: 'absent' },
];

test.each(CONDITIONS)('Rule form: a rule with %j: saving it unchanged gives the same rule', (condition) => {
  expect(ruleOf(typedOf({ ...ruleWith(condition), rule_id: 'a', version: 1 }))).toEqual(ruleWith(condition));
});

test('Rule form: another kind: members of the first kind are left out', () => {
  const typed = typedOf(ruleWith({ kind: 'outside', limit: [2, 8], clear: [3, 7], for_samples: 4 }));
  expect(ruleOf({ ...typed, kind: 'absent' })?.condition).toEqual({ kind: 'absent' });
  expect(ruleOf({ ...typed, kind: 'above' })?.condition).toEqual({
    kind: 'above',
    limit: 2,
    clear: 3,
    for_samples: 4,
  });
});

test('Rule form: a comma as decimal point: it is read', () => {
  const typed = typedOf(ruleWith({ kind: 'above', limit: 1 }));
  expect(ruleOf({ ...typed, limit: '1,5' })?.condition).toEqual({ kind: 'above', limit: 1.5 });
});

test.each(/** @type {const} */ (['name', 'limit']))('Rule form: no %s: nothing can be saved', (field) => {
  const typed = typedOf(ruleWith({ kind: 'above', limit: 1 }));
  expect(ruleOf({ ...typed, [field]: '' })).toBeNull();
});

test('Rule form: a text in place of a number: the API gets null, and refuses it', () => {
  const typed = typedOf(ruleWith({ kind: 'above', limit: 1 }));
  const rule = ruleOf({ ...typed, clear: 'cold' });
  expect(JSON.parse(JSON.stringify(rule)).condition).toEqual({ kind: 'above', limit: 1, clear: null });
});
