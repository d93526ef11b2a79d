import { expect, test } from '@jest/globals';
import { csvCell } from '../../../../../api/features/shared/files/answers.ts';

test.each([
  [null, ''],
  ['', ''],
  [-1.5, '-1.5'],
  [false, 'false'],
  ['boiler', 'boiler'],
  ['a "b", c', '"a ""b"", c"'],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ['-7', "'-7"],
  ['+1', "'+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['Café', 'Café'],
])('CSV export: cell %j: written as %s', (cell, text) => {
  expect(csvCell(cell)).toBe(text);
});
