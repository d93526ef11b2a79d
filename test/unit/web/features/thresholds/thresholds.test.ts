import { describe, expect, test } from '@jest/globals';
import { limitOf, limitScale, limitText } from '../../../../../web/features/shared/limits.ts';
import {
  countOverThreshold,
  createThresholdMemory,
  parseThresholds,
  readThresholds,
  thresholdSideOf,
  thresholdsIn,
  withThresholds,
  writeThresholds,
} from '../../../../../web/features/thresholds/state.ts';
import { scaleFor, toShown } from '../../../../../web/units.ts';

describe('Thresholds', () => {
  test('Chart thresholds: the user types low and high: numbers are parsed, other texts are refused with a message', () => {
    expect(parseThresholds({ low: ' -4,5 ', high: '' })).toEqual({ low: -4.5, high: null });
    expect(parseThresholds({ low: '−1', high: '1e3' })).toEqual({ low: -1, high: 1000 });
    expect(parseThresholds({ low: 'x', high: '' })).toBe('Low is not a number.');
    expect(parseThresholds({ low: '', high: '1,000,000' })).toBe('High is not a number.');
    expect(parseThresholds({ low: '2', high: '2' })).toBe('Low has to be below high.');
  });

  test('Chart thresholds: read from the page address: zero is kept, and text that is no number is ignored', () => {
    expect(writeThresholds({ low: 0, high: null })).toEqual({ low: '0', high: null });
    expect(readThresholds(new URLSearchParams('low=0&high=x'))).toEqual({ low: 0, high: null });
  });

  test('Chart thresholds: bins: min and max are compared, not the mean; a value equal to the threshold does not count', () => {
    const shape = {
      stepMs: 1,
      from: 0,
      to: 3,
      ts: [0, 1, 2],
      min: [1, 2, 3],
      avg: [5, 5, 5],
      max: [7, 8, 9],
      count: [2, 2, 2],
    };
    expect(countOverThreshold(shape, { low: 2, high: 8 })).toEqual({ low: 1, high: 1 });
    expect(countOverThreshold(shape, { low: null, high: null })).toEqual({ low: 0, high: 0 });
    expect([thresholdSideOf(1, 9, { low: 2, high: 8 }), thresholdSideOf(2, 8, { low: 2, high: 8 })]).toEqual([
      'both',
      null,
    ]);
  });

  test('Chart thresholds: near the drawn values: the value axis extends to the threshold; far away: it does not', () => {
    expect(withThresholds(10, 20, { low: 5, high: null })).toEqual([5, 20]);
    expect(withThresholds(10, 20, { low: null, high: 5000 })).toEqual([10, 20]);
  });

  test('Chart thresholds: browser storage: thresholds are stored per sensor, removed when empty; invalid content is ignored', () => {
    const kept: Map<string, string> = new Map();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => kept.set(key, text),
    } as never;
    const memory = createThresholdMemory(storage);
    memory.remember('a/b', { low: 1, high: null });
    expect(createThresholdMemory(storage).recall('a/b')).toEqual({ low: 1, high: null });
    expect(memory.recall('a/c')).toBeNull();
    memory.remember('a/b', { low: null, high: null });
    expect(memory.recall('a/b')).toBeNull();
    for (const text of ['{', '{}', '[1]', '[["a/b",{"low":"x"}]]']) {
      kept.set('millrace.thresholds', text);
      expect(memory.recall('a/b')).toBeNull();
    }
  });

  test('Chart thresholds: values are drawn with a unit prefix: thresholds are converted to the same unit', () => {
    expect(thresholdsIn({ low: 2e9, high: null }, scaleFor('J', [2e9]))).toEqual({ low: 2, high: null });
  });

  test('Chart thresholds: threshold typed in °F equals a sample: the sample is not beyond it, in the chart and in the count', () => {
    const scale = limitScale('Cel', { temperature: '°F' });
    for (let tenths = -400; tenths <= 400; tenths++) {
      const value = tenths / 10;
      const line = limitOf(scale, limitText(scale, value));
      const lines = { low: line, high: line };
      const shown = toShown(scale, value);
      expect(countOverThreshold({ min: [value], max: [value] }, lines)).toEqual({ low: 0, high: 0 });
      expect(thresholdSideOf(shown, shown, thresholdsIn(lines, scale))).toBeNull();
    }
  });
});
