import { beforeAll, expect, test } from '@jest/globals';
import type { Aggregate } from '../../../../api/history/reading/bins.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import { AGGREGATES } from '../../../support/history/brute-force.ts';
import type { Sample } from '../../../support/history/index.ts';
import type { Json } from '../../../support/json.ts';
import { useHistorySystem } from '../../../support/system/history.ts';

interface Series {
  metric: Record<string, string>;
  values: [ts: number, value: string][];
  value: [ts: number, value: string];
}

const BEGIN = dayOf(Date.now() - 60 * DAY_MS);
const MINUTE_MS = 60_000;
const PATH = '/prometheus/api/v1';

const world = useHistorySystem(BEGIN);

const stored: Record<string, Sample[]> = {};

const DEVICES: Record<string, { site: string; type: string; unit: string; hours: number[] }> = {
  'pump-1': { site: 'North', type: 'pressure', unit: 'bar', hours: [0, 1, 2, 3, 26] },
  'pump-2': { site: 'North', type: 'pressure', unit: 'kPa', hours: [1, 2] },
  'oven "2"': { site: 'South', type: 'temperature', unit: 'Cel', hours: [2, 50] },
};

const NAMES = Object.keys(DEVICES);

beforeAll(async () => {
  for (const [name, { site, type, unit, hours }] of Object.entries(DEVICES)) {
    world.clock.now = BEGIN;
    await world.device.birth(name, { site, sensors: [{ sensor_id: 's', type, unit }] });
    stored[name] = await world.lay(
      name,
      hours.map((index) => ({
        hour: BEGIN + index * HOUR_MS,
        fate: 'packed',
        samples: samplesOfHour(index, name.length),
      })),
    );
  }
  world.clock.now = BEGIN + 5 * DAY_MS;
});

/** @returns 40 samples, about 90 s apart; some are at the start of a minute */
const samplesOfHour = (index: number, seed: number): Sample[] =>
  Array.from({ length: 40 }, (_, at) => [
    BEGIN + index * HOUR_MS + at * 90_000 + ((at * seed) % 7) * 1000,
    Math.round(1e4 * Math.sin(at * seed + index)) / 100,
  ]);

async function ask(name: string, params: Record<string, string | number> = {}): Promise<Json> {
  const query = new URLSearchParams(Object.entries(params).map(([key, value]) => [key, String(value)]));
  const response = await fetch(`${world.system.httpUrl}${PATH}/${name}?${query}`);
  const answer = await response.json();
  return response.ok ? answer.data : { httpStatus: response.status, ...answer };
}

const aggregateOf = (aggregate: string, values: number[]) => AGGREGATES[aggregate as Aggregate](values);

/** @param query in ms */
function valuesOf(
  aggregate: string,
  samples: Sample[],
  { start, end, step, window }: { start: number; end: number; step: number; window: number },
) {
  const points: Array<[number, number]> = [];
  for (let at = start; at <= end; at += step) {
    const values = samples.filter(([ts]) => ts >= at - window && ts < at).map(([, value]) => value);
    if (values.length > 0) points.push([at / 1000, aggregateOf(aggregate, values)]);
  }
  return points;
}

/** @returns with 12 digits, as averages differ in the last ones */
const rounded = (points: Array<[number, string | number]>): Array<[number, number]> =>
  points.map(([at, value]) => [at, Number(Number(value).toPrecision(12))]);

test('Prometheus query_range: selector without a function: the last value of five minutes, with all labels', async () => {
  const [start, end] = [BEGIN + HOUR_MS, BEGIN + 2 * HOUR_MS];
  const { result } = await ask('query_range', {
    query: 'millrace_value{device="pump-2"}',
    start: start / 1000,
    end: end / 1000,
    step: '1m',
  });
  const window = 5 * MINUTE_MS;
  expect(result).toEqual([
    {
      metric: {
        __name__: 'millrace_value',
        device: 'pump-2',
        sensor: 's',
        type: 'pressure',
        unit: 'kPa',
        site: 'North',
      },
      values: expect.anything(),
    },
  ]);
  const expected = valuesOf('last', stored['pump-2'] ?? [], { start, end, step: MINUTE_MS, window });
  expect(rounded(result[0].values)).toEqual(rounded(expected));
});

test('Prometheus query_range: sum by site of hourly maxima: POST with a form and GET answer the same', async () => {
  const [start, end] = [BEGIN + HOUR_MS, BEGIN + 3 * HOUR_MS];
  const params = {
    query: 'sum by (site) (max_over_time(millrace_value[1h]))',
    start: start / 1000,
    end: end / 1000,
    step: '1h',
  };
  const { result } = await ask('query_range', params);
  const maxima = (name: string) =>
    valuesOf('max', stored[name] ?? [], { start, end, step: HOUR_MS, window: HOUR_MS });
  const north = new Map(maxima('pump-1'));
  for (const [at, value] of maxima('pump-2')) north.set(at, value + (north.get(at) ?? 0));
  const expected = [
    ['North', rounded([...north])],
    ['South', rounded(maxima('oven "2"'))],
  ];
  expect(result.map(({ metric, values }: Series) => [metric['site'], rounded(values)]).sort()).toEqual(
    expected,
  );
  const body = new URLSearchParams(Object.entries(params).map(([key, value]) => [key, String(value)]));
  const response = await fetch(`${world.system.httpUrl}${PATH}/query_range`, { method: 'POST', body });
  expect((await response.json()).data.result).toEqual(result);
});

test('Prometheus query: last_over_time of 1 h: the last value of each sensor before the instant', async () => {
  const at = BEGIN + 2 * HOUR_MS;
  const { resultType, result } = await ask('query', {
    query: 'last_over_time(millrace_value[1h])',
    time: at / 1000,
  });
  expect(resultType).toBe('vector');
  const found = result.map(({ metric, value }: Series) => [metric.device, Number(value[1])]);
  const lasts = ['pump-1', 'pump-2'].map((name) => [
    name,
    stored[name]?.filter(([ts]) => ts < at).at(-1)?.[1],
  ]);
  expect(found).toEqual(lasts);
});

test('Prometheus query: 1+1, the connection test of Grafana: the scalar 2', async () => {
  expect(await ask('query', { query: '1+1', time: 7 })).toEqual({ resultType: 'scalar', result: [7, '2'] });
});

test('Prometheus series: one selector: the labels of the selected sensors', async () => {
  const devices = async (match: string) =>
    (await ask('series', { 'match[]': match })).map(({ device }: { device: string }) => device).sort();
  expect(await devices('millrace_value')).toEqual([...NAMES].sort());
  expect(await devices('{device="oven \\"2\\""}')).toEqual(['oven "2"']);
  expect(await devices('{device=~"(pump-1|unknown)"}')).toEqual(['pump-1']);
  expect(await devices('{device=~"pump-.",unit!="bar"}')).toEqual(['pump-2']);
  expect(await devices('{site="North",type!~"temp.*"}')).toEqual(['pump-1', 'pump-2']);
  expect(await devices('{device="unknown"}')).toEqual([]);
  expect(await devices('{device=""}')).toEqual([]);
  expect(await devices('up')).toEqual([]);
  expect(await devices('{constructor!=""}')).toEqual([]);
});

test('Prometheus labels and label values: one selector or none: each is listed once, in order', async () => {
  expect(await ask('labels')).toEqual(['__name__', 'device', 'sensor', 'site', 'type', 'unit']);
  expect(await ask('label/site/values')).toEqual(['North', 'South']);
  expect(await ask('label/unit/values', { 'match[]': '{site="North"}' })).toEqual(['bar', 'kPa']);
  expect(await ask('label/unit/values', { limit: 1 })).toEqual(['Cel']);
  expect(await ask('label/__name__/values')).toEqual(['millrace_value']);
  for (const label of ['color', 'constructor', '__proto__'])
    expect(await ask(`label/${label}/values`)).toEqual([]);
});

test('Prometheus series, labels and label values: several selectors: what any of them selects', async () => {
  const query = new URLSearchParams([
    ['match[]', '{device="pump-2"}'],
    ['match[]', '{type="temperature"}'],
    ['start', ''],
    ['unknown', 'ignored'],
  ]);
  const answer = await (await fetch(`${world.system.httpUrl}${PATH}/label/device/values?${query}`)).json();
  expect(answer.data).toEqual(['oven "2"', 'pump-2']);
  expect(await ask('series', { limit: 2 })).toHaveLength(2);
});

test('Prometheus metadata: any request: lists the only metric', async () => {
  expect(await ask('metadata')).toEqual({ millrace_value: [expect.objectContaining({ type: 'gauge' })] });
  expect(await ask('metadata', { metric: 'up' })).toEqual({});
});
