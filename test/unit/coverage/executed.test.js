import { expect, test } from '@jest/globals';
import { covers, executed } from '../../coverage/executed.js';
import { linesOf } from '../../coverage/lines.js';

/** @import { Range } from '../../coverage/executed.js' */

/** @param {[number, number, number][]} blocks @returns {Range[]} */
const rangesOf = (...blocks) =>
  executed({
    url: '',
    functions: blocks.map(([startOffset, endOffset, count]) => ({
      ranges: [{ startOffset, endOffset, count }],
    })),
  });

test('Coverage: a block that never ran lies in an executed block: only the inner block is left out', () => {
  const ranges = rangesOf([0, 100, 1], [20, 40, 0]);
  expect(ranges).toEqual([
    [0, 20],
    [40, 100],
  ]);
  expect([19, 20, 39, 40, 99, 100].map((offset) => covers(ranges, offset))).toEqual([
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
});

test('Coverage: an executed block lies in a block that never ran: the inner block counts as executed', () => {
  expect(rangesOf([0, 100, 1], [20, 60, 0], [30, 40, 3])).toEqual([
    [0, 20],
    [30, 40],
    [60, 100],
  ]);
});

test('Coverage: no process loaded the file: no offset is covered', () => {
  expect(covers(undefined, 0)).toBe(false);
});

test('Coverage: comments and empty lines of a file do not count as lines', () => {
  const source = '// a\n\nlet a;\n/* b */ let b;\n/** c */\nlet c;\n';
  expect(linesOf(source, [[0, source.indexOf('let b')]])).toEqual({ lines: 3, executed: 1 });
  expect(linesOf(source, undefined)).toEqual({ lines: 3, executed: 0 });
});
