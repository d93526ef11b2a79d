import { expect, test } from '@jest/globals';
import { limitScale, limitText, toSent } from '../../../../../web/features/shared/limits.ts';
import { toShown } from '../../../../../web/units.ts';

test('Chosen units: alarm limit of 99.5 °F: stored as 37.5 °C, and shown as 99.5 °F', () => {
  const scale = limitScale('Cel', { temperature: '°F' });
  expect(toSent(scale, 99.5)).toBe(37.5);
  expect(Number(toShown(scale, toSent(scale, 99.5)).toPrecision(12))).toBe(99.5);
  expect(limitText(scale, toSent(scale, 0))).toBe('0');
  expect(limitScale('J', {})).toMatchObject({ unit: 'J', factor: 1 });
  expect(toSent(limitScale('J', {}), 0.1 + 0.2)).toBe(0.1 + 0.2);
});
