import { expect, test } from '@jest/globals';
import { covers, executed, type Range } from '../../coverage/executed.ts';
import { linesOf } from '../../coverage/lines.ts';

const rangesOf = (...blocks: [number, number, number][]): Range[] =>
  executed({
    url: '',
    functions: blocks.map(([startOffset, endOffset, count]) => ({
      ranges: [{ startOffset, endOffset, count }],
    })),
  });

test('Test coverage: an executed block contains a block that never ran: only the inner block counts as not covered', () => {
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

test('Test coverage: a block that never ran contains an executed block: the inner block counts as covered', () => {
  expect(rangesOf([0, 100, 1], [20, 60, 0], [30, 40, 3])).toEqual([
    [0, 20],
    [30, 40],
    [60, 100],
  ]);
});

test('Test coverage: no process loaded the source file: nothing in it is covered', () => {
  expect(covers(undefined, 0)).toBe(false);
});

test('Test coverage: comments and empty lines of a source file: not counted as lines', () => {
  const source = '// a\n\nlet a;\n/* b */ let b;\n/** c */\nlet c;\n';
  expect(linesOf(source, [[0, source.indexOf('let b')]])).toEqual({ lines: 3, executed: 1 });
  expect(linesOf(source, undefined)).toEqual({ lines: 3, executed: 0 });
});
