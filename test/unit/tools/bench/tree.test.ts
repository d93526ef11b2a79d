import { expect, test } from '@jest/globals';
import { siteOf } from '../../../../tools/bench/loader/data-set.ts';
import { readFlags } from '../../../../tools/bench/loader/flags.ts';

const NOW = Date.UTC(2026, 10, 24);

const treeOf = (text: string) => readFlags(['--tree', text], NOW).fleet.tree;

test('Load: a tree: devices are dealt out to all assets of the deepest level; without one they have one site', () => {
  const sites = Array.from({ length: 24 }, (_, number) => siteOf(number, treeOf('2x3x4')));
  expect(new Set(sites).size).toBe(24);
  expect(sites[0]).toBe('site-1/area-1/line-1');
  expect(sites[23]).toBe('site-2/area-3/line-4');
  expect(siteOf(24, [2, 3, 4])).toBe(sites[0]);
  expect(siteOf(7, readFlags([], NOW).fleet.tree)).toBe('load');
});

test.each(['', '0', '2x', '2.5', '1x1x1x1x1x1', '200001', '1000x1000'])(
  'Load: --tree %p: usage error',
  (text) => {
    expect(() => treeOf(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  },
);
