import { expect, test } from '@jest/globals';
import { DAY_MS, HOUR_MS, PURGE_DAYS } from '../../../schema/rules.ts';
import { usePackedSystem } from '../../support/system/packed.ts';

const packed = usePackedSystem({ readStreamed: async () => [] });

type Sample = { ts: number; value: number };

const replace = async (device: string, samples: Sample[], query: string = '') => {
  const elements = samples.map((sample) => ({ sensor_id: 's', ...sample }));
  const response = await packed.system().post(`/corrections?device=${device}${query}`, elements);
  return { status: response.status, body: await response.json() };
};

const remove = async (query: string) => {
  const response = await fetch(`${packed.system().httpUrl}/api/v1/measurements?${query}`, {
    method: 'DELETE',
  });
  return { status: response.status, body: await response.json() };
};

const get = (path: string) => packed.system().get(path);

/** What all readers of a sensor show of an hour: pages, statistics, the newest value, a query and an export. */
async function readers(device: string, hour: number) {
  const range = `from=${hour}&to=${hour + HOUR_MS}`;
  const sensor = `/devices/${device}/sensors/s`;
  const pages = await packed.read(device, hour);
  const series = await get(`${sensor}/series?${range}&points=1`);
  const latest = await get(sensor);
  const query = await get(`/query?device=${device}&${range}&aggregate=count,sum&format=rows`);
  const text = await (
    await fetch(`${packed.system().httpUrl}/api/v1${sensor}/measurements?${range}&order=asc&format=ndjson`)
  ).text();
  const exported = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).value);
  return {
    pages: pages.map(({ value }) => value),
    exported,
    points: series.points.map(({ count, min, max }: Record<string, number>) => [count, min, max]),
    latest: latest.value,
    query: query.items.map(({ count, sum }: Record<string, number>) => [count, sum]),
  };
}

const all = (values: number[]) => ({
  pages: values,
  exported: values,
  points: values.length === 0 ? [] : [[values.length, Math.min(...values), Math.max(...values)]],
  query: values.length === 0 ? [] : [[values.length, values.reduce((sum, value) => sum + value, 0)]],
});

test('Correction over HTTP: open hour, packed hour, a repeated message: all readers agree, before and after packing', async () => {
  const hour = packed.newHour();
  const samples = [1, 100, 3].map((value, index) => ({ ts: hour + index * 1000, value }));
  await packed.send('pump', samples);
  expect(await readers('pump', hour)).toEqual({ ...all([1, 100, 3]), latest: 3 });

  const replaced = await replace('pump', [{ ts: hour + 1000, value: 21 }], '&reason=a%20file');
  expect(replaced).toEqual({ status: 200, body: { accepted: 1 } });
  expect(await readers('pump', hour)).toEqual({ ...all([1, 21, 3]), latest: 3 });

  const query = `device=pump&sensor=s&from=${hour + 2000}&to=${hour + 3000}`;
  const counts = { devices: 1, sensors: 1, samples: 1 };
  expect((await remove(`${query}&dry_run=true`)).body).toEqual({ dry_run: true, ...counts });
  expect((await remove(query)).body).toEqual({ dry_run: false, ...counts });
  expect((await remove(query)).body).toEqual({ dry_run: false, devices: 0, sensors: 0, samples: 0 });
  const corrected = { ...all([1, 21]), latest: 21 };
  expect(await readers('pump', hour)).toEqual(corrected);

  await packed.packBefore(hour + HOUR_MS);
  expect(await readers('pump', hour)).toEqual(corrected);
  expect((await packed.statisticsOf('pump', hour))?.statistics?.count).toBe(2);
  await packed.send('pump', samples);
  expect(await readers('pump', hour)).toEqual(corrected);

  const { items } = await get('/corrections?device=pump');
  expect(items).toMatchObject([
    { kind: 'remove', samples: 1, reason: null },
    { kind: 'replace', samples: 1, reason: 'a file' },
  ]);
  expect((await get('/corrections')).items).toEqual(items);
  const paged = await get('/corrections?limit=1');
  expect((await get(`/corrections?limit=1&cursor=${paged.next}`)).items).toEqual(items.slice(1));
});

test('POST /measurements: replace=true: the stored value is replaced, and the list of corrections names the caller', async () => {
  const hour = packed.newHour();
  await packed.send('tap', [{ ts: hour, value: 100 }]);
  const elements = [{ sensor_id: 's', ts: hour, value: 21 }];
  const answer = await packed.system().post('/measurements?device=tap&replace=true', elements);
  expect([answer.status, await answer.json()]).toEqual([200, { accepted: 1 }]);
  await packed.system().post('/measurements?device=tap&replace=false', [{ ...elements[0], value: 50 }]);
  expect(await readers('tap', hour)).toEqual({ ...all([21]), latest: 21 });
  const { items } = await get('/corrections?device=tap');
  expect(items).toMatchObject([{ kind: 'replace', by: 'anybody 127.0.0.1' }]);
});

test('Removal over HTTP: all samples of a packed hour: no reader has the hour, and a replacement brings it back', async () => {
  const hour = packed.newHour();
  await packed.send('fan', [{ ts: hour + 5, value: 8 }]);
  await packed.packBefore(hour + HOUR_MS);
  expect((await remove(`device=fan&from=${hour}&to=${hour + HOUR_MS}`)).body).toMatchObject({ samples: 1 });
  expect(await readers('fan', hour)).toEqual({ ...all([]), latest: null });
  expect(await replace('fan', [{ ts: hour + 5, value: 9 }])).toMatchObject({ status: 200 });
  expect(await readers('fan', hour)).toEqual({ ...all([9]), latest: 9 });
});

test('Removal over HTTP: without a selection, without a range, of an unknown device: refused', async () => {
  const range = `from=${packed.clock.now - 1}&to=${packed.clock.now}`;
  expect(await remove(range)).toMatchObject({ status: 400, body: { code: 'bad_parameter' } });
  expect(await remove('device=fan&from=-1h')).toMatchObject({ status: 400, body: { code: 'bad_parameter' } });
  expect(await remove(`device=nobody&${range}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await replace('nobody', [{ ts: packed.clock.now, value: 1 }])).toMatchObject({
    body: { code: 'unknown_device' },
  });
});

test('Removal over HTTP: by the type of the sensors: other sensors keep their samples', async () => {
  const hour = packed.newHour();
  for (const device of ['east', 'west']) {
    await packed.send(device, [{ ts: hour, value: 1 }]);
    await packed.send(device, [{ ts: hour, value: 2 }], 'other');
    const typed = await packed.system().post(`/devices/${device}/sensors/s`, { type: 'odd' }, 'PATCH');
    expect(typed.status).toBe(200);
  }
  expect((await remove(`type=odd&from=${hour}&to=${hour + 1}`)).body).toEqual({
    dry_run: false,
    devices: 2,
    sensors: 2,
    samples: 2,
  });
  for (const device of ['east', 'west']) {
    expect(await packed.read(device, hour)).toEqual([]);
    expect(await packed.read(device, hour, 'other')).toHaveLength(1);
  }
});

test('Removal over HTTP: it can no longer be undone: after packing, no row of history has the sample', async () => {
  const hour = packed.newHour();
  await packed.send('gone', [
    { ts: hour, value: 4 },
    { ts: hour + 1, value: 5 },
  ]);
  await packed.packBefore(hour + HOUR_MS);
  const stored = async () =>
    (await packed.store().packed.readHour(packed.keyOf('gone'), hour)).map((row) => [...(row?.values ?? [])]);
  expect((await remove(`device=gone&from=${hour}&to=${hour + 1}`)).body).toMatchObject({ samples: 1 });
  await packed.packBefore(hour + HOUR_MS);
  expect(await stored()).toContainEqual([4, 5]);

  await packed.packBefore(hour + (PURGE_DAYS + 1) * DAY_MS);
  expect((await stored()).flat()).toEqual([5]);
  expect(await readers('gone', hour)).toEqual({ ...all([5]), latest: 5 });
}, 60_000);
