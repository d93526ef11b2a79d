import { describe, expect, test } from '@jest/globals';
import { shapeOfSamples } from '../../../../../web/chart/shape.ts';
import {
  compareHref,
  MOST_COMPARED,
  parseRef,
  readHidden,
  readRefs,
  refOf,
  writeRef,
} from '../../../../../web/features/compare/address.ts';
import { createComparison } from '../../../../../web/features/compare/state.ts';
import {
  alignLines,
  axesOf,
  ghostWindow,
  groupsOf,
  type Line,
  scaleOf,
  shifted,
} from '../../../../../web/features/compare/use-compared.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const samples = (ts: number[], value: number[]) => shapeOfSamples({ ts, value }, { from: 0, to: 1000 });

const line = (key: string, rest: Partial<Line> = {}) =>
  ({
    key,
    name: key,
    unit: 'Cel',
    shown: { unit: '°C', factor: 1, offset: 0, timeMs: null },
    intervalMs: null,
    hue: 1,
    scale: 'unit Cel',
    isGhost: false,
    states: null,
    shape: samples([1, 2], [10, 20]),
    ...rest,
  }) as Line;

describe('Address of a comparison', () => {
  test('Comparison address: names with slashes, spaces and percent signs: written and parsed: the names are unchanged', () => {
    for (const ref of [
      { device: 'collar-1', sensor: 'ear' },
      { device: 'a/b', sensor: 'c d%2F?&=#' },
    ]) {
      const text = writeRef(ref);
      expect(parseRef(text)).toEqual(ref);
      const { pathname, searchParams } = new URL(compareHref([text]), 'http://localhost');
      expect([pathname, readRefs(searchParams).map(parseRef)]).toEqual(['/compare', [ref]]);
    }
    expect(compareHref(['collar-1/ear', 'gate/open'])).toBe('/compare?s=collar-1/ear&s=gate/open');
  });

  test('Comparison address: the ids are not derived from the names: the address holds the ids', () => {
    expect(refOf({ device_id: 'd', sensor_id: 's', device: 'Door', name: 'State' })).toBe('d/s');
  });

  test('Comparison address: invalid, repeated or surplus sensors: left out; at most eight sensors remain', () => {
    const query = new URLSearchParams();
    for (const text of ['a', '/b', 'a/', '%E0%A4%A/b', 'a/b', 'a/b']) query.append('s', text);
    expect(readRefs(query)).toEqual(['a/b']);
    for (let number = 0; number < 20; number++) query.append('s', `a/${number}`);
    expect(readRefs(query)).toHaveLength(MOST_COMPARED);
  });

  test('Comparison address: the sensors change: other parameters, such as the time range, stay', () => {
    expect(compareHref(['a/b'], new URLSearchParams('s=c/d&range=1d&view=stacked'))).toBe(
      '/compare?s=a/b&range=1d&view=stacked',
    );
    expect(compareHref([])).toBe('/compare');
  });

  test('Comparison address: a sensor is removed: other hidden sensors stay hidden, the removed sensor is no longer named', () => {
    const query = new URLSearchParams('s=a/b&s=c/d&hidden=a/b&hidden=c/d&axes=own');
    expect(readHidden(query)).toEqual(new Set(['a/b', 'c/d']));
    expect(compareHref(['a/b'], query)).toBe('/compare?s=a/b&hidden=a/b&axes=own');
    expect(compareHref(['a/b', 'c/d'], query, new Set(['c/d']))).toBe(
      '/compare?s=a/b&s=c/d&hidden=c/d&axes=own',
    );
    const odd = writeRef({ device: 'a/b', sensor: 'c d%2F?&=#' });
    const { searchParams } = new URL(compareHref([odd], query, new Set([odd])), 'http://localhost');
    expect(readHidden(searchParams)).toEqual(new Set([odd]));
  });
});

test('Comparison: sensors are added and removed: at most eight sensors, which the browser storage keeps', () => {
  const kept: Map<string, string> = new Map();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  } as never;
  const comparison = createComparison({ storage: { tab: storage } });
  for (let number = 0; number < 10; number++) comparison.toggle(`a/${number}`);
  expect(comparison.refs.peek()).toHaveLength(MOST_COMPARED);
  comparison.toggle('a/0');
  expect(comparison.refs.peek()).not.toContain('a/0');
  expect(createComparison({ storage: { tab: storage } }).refs.peek()).toEqual(comparison.refs.peek());
  kept.set('millrace.comparison', 'not JSON');
  expect(createComparison({ storage: { tab: storage } }).refs.peek()).toEqual([]);
});

describe('Lines', () => {
  test('Comparison chart: sensors with different sample times: one time column; a missing value is undefined, not null', () => {
    const { columns, places } = alignLines([line('a'), line('b', { shape: samples([2, 3], [5, 6]) })]);
    expect(columns).toEqual([
      [1, 2, 3],
      [10, 20, undefined],
      [undefined, 5, 6],
    ]);
    expect(places).toEqual([0, 1, 2]);
  });

  test('Comparison chart: no sensors: the time column is empty', () =>
    expect(alignLines([]).columns[0]).toEqual([]));

  test('Comparison chart: samples of an earlier time: shifted to the current times', () => {
    expect(shifted(samples([1, 2], [5, 6]), 10)).toMatchObject({ ts: [11, 12], avg: [5, 6], from: 10 });
  });

  test('Comparison chart: scales: one for each unit or sensor; only the first two have an axis with numbers', () => {
    expect(scaleOf('Cel', 3, false)).toBe(scaleOf('Cel', 5, false));
    expect(scaleOf('Cel', 3, true)).not.toBe(scaleOf('Cel', 5, true));
    const lines = [
      line('a'),
      line('b', { hue: 2 }),
      line('c', { unit: 'V', scale: 'unit V', hue: 3 }),
      line('d', { unit: 'A', scale: 'unit A', hue: 4 }),
    ];
    expect(axesOf(lines)).toEqual([
      { scale: 'unit Cel', unit: 'Cel', hue: null },
      { scale: 'unit V', unit: 'V', hue: 3 },
    ]);
  });

  test('Comparison charts: sensor with states, such as a door: drawn in a separate strip, not in the chart of all lines', () => {
    const states = (value: number) => String(value);
    const ghost = { shape: samples([1], [0]), isGhost: true };
    const lines = [line('door', { states }), line('a'), line('b'), line('door', { states, ...ghost })];
    const keysOf = (isStacked: boolean) =>
      groupsOf(lines, isStacked).map(({ hasStates, lines }) => [hasStates, ...lines.map(({ key }) => key)]);
    expect(keysOf(false)).toEqual([
      [false, 'a', 'b'],
      [true, 'door', 'door'],
    ]);
    expect(keysOf(true)).toEqual([
      [true, 'door', 'door'],
      [false, 'a'],
      [false, 'b'],
    ]);
    expect(groupsOf([], false)).toEqual([]);
  });

  test('Comparison with the week before: range: a week earlier; a live one advances in steps, not every second', () => {
    const week = 7 * 24 * HOUR_MS;
    expect(ghostWindow({ live: false, from: NOON, to: NOON + 5 })).toEqual({
      live: false,
      from: NOON - week,
      to: NOON + 5 - week,
    });
    const live = (now: number) => ghostWindow({ live: true, from: now - HOUR_MS, to: now });
    expect(live(NOON + 1000)).toEqual(live(NOON + 2000));
    expect(live(NOON + 1000).to).toBeGreaterThanOrEqual(NOON + 1000 - week);
    expect(live(NOON + 10 * MINUTE_MS)).not.toEqual(live(NOON));
  });
});
