import { expect, test } from '@jest/globals';
import type { Aggregate } from '../../../../api/history/reading/bins.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { createRandom } from '../../../../simulator/random.ts';
import { AGGREGATES } from '../../../support/history/brute-force.ts';
import type { Json } from '../../../support/json.ts';
import { usePackedSystem } from '../../../support/system/packed.ts';

const packed = usePackedSystem({ readStreamed: async () => [] });

const MINUTE_MS = 60_000;
const STEP = 5 * MINUTE_MS;
const HOURS = 3;

const get = (path: string) => fetch(`${packed.system().httpUrl}${path}`);

/** @returns the points of a function over the windows of the hours, in epoch s */
async function ask(aggregate: Aggregate, from: number): Promise<Array<[number, number]>> {
  const params = new URLSearchParams({
    query: `${aggregate}_over_time(millrace_value{device="mill"}[10m])`,
    ...{ start: String(from / 1000), end: String((from + HOURS * HOUR_MS) / 1000), step: '5m' },
  });
  const { data } = await (await get(`/prometheus/api/v1/query_range?${params}`)).json();
  const series = data.result as Json[];
  expect(series.length).toBeLessThan(2);
  return (series[0]?.values ?? []).map(([at, value]: [number, string]) => [at, rounded(Number(value))]);
}

const rounded = (value: number) => Number(value.toPrecision(12));

function computed(aggregate: Aggregate, from: number, samples: Map<number, number>) {
  const points: Array<[number, number]> = [];
  for (let at = from; at <= from + HOURS * HOUR_MS; at += STEP) {
    const times = [...samples.keys()].filter((ts) => ts >= at - 2 * STEP && ts < at).sort((a, b) => a - b);
    const values = times.map((ts) => Number(samples.get(ts)));
    if (values.length > 0) points.push([at / 1000, rounded(AGGREGATES[aggregate](values))]);
  }
  return points;
}

test('Prometheus query_range: random corrections, removals and undone removals, before and after packing: equal to brute force', async () => {
  const random = createRandom(61);
  const whole = (below: number) => Math.floor(random.between(0, below));
  const from = packed.newHour();
  packed.clock.now = from + HOURS * HOUR_MS;
  const times = Array.from({ length: HOURS * 60 }, (_, index) => from + index * MINUTE_MS + whole(MINUTE_MS));
  const sent = times.map((ts) => ({ ts, value: whole(2000) / 10 - 100 }));
  await packed.send('mill', sent);
  let samples = new Map(sent.map(({ ts, value }) => [ts, value]));

  async function agree() {
    for (const aggregate of ['avg', 'min', 'max', 'count', 'sum', 'last'] as const)
      expect(await ask(aggregate, from)).toEqual(computed(aggregate, from, samples));
  }

  /** @returns whether it is listed: a removal of nothing is not */
  async function correct(): Promise<boolean> {
    const first = whole(times.length);
    const some = times.slice(first, first + 1 + whole(40));
    packed.clock.now += 1000;
    if (random.uniform() < 0.5) {
      const elements = some.map((ts) => ({ sensor_id: 's', ts, value: whole(2000) / 10 - 100 }));
      expect((await packed.system().post('/corrections?device=mill', elements)).status).toBe(200);
      for (const { ts, value } of elements) samples.set(ts, value);
      return true;
    }
    const range = `from=${some[0]}&to=${Number(some.at(-1)) + 1}`;
    const url = `${packed.system().httpUrl}/api/v1/measurements?device=mill&${range}`;
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(200);
    return some.filter((ts) => samples.delete(ts)).length > 0;
  }

  await agree();
  for (let round = 0; round < 6; round++) {
    const before = new Map(samples);
    const isListed = await correct();
    await agree();
    if (round === 2) await packed.packBefore(from + (HOURS - 1) * HOUR_MS);
    if (round % 2 === 0) {
      // The same old messages again.
      await packed.send('mill', sent);
      await agree();
    } else if (isListed) {
      const [{ id }] = (await packed.system().get('/corrections?device=mill&limit=1')).items;
      packed.clock.now += 1000;
      expect((await packed.system().post(`/corrections/${id}/undo`, {})).status).toBe(200);
      samples = before;
      await agree();
    }
  }
  await packed.packBefore(from + HOURS * HOUR_MS);
  await agree();
}, 60_000);
