import { expect, test } from '@jest/globals';
import { formatMs, formatRate } from '../../../../../web/features/pipeline/format.ts';
import { NOTHING } from '../../../../../web/format.ts';

test('Rate and duration: null or undefined: shown as a dash', () => {
  expect(formatMs(null)).toBe(NOTHING);
  expect(formatRate(undefined)).toBe(NOTHING);
});
