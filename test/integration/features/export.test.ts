import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { finished } from 'node:stream/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { packSamples } from '../../../schema/packed/pack.ts';
import { bucketOf, DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.ts';
import { FATES, type Sample } from '../../support/history/index.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useHistorySystem } from '../../support/system/history.ts';

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
const BEGIN = dayOf(Date.now() - 60 * DAY_MS);

const world = useHistorySystem(BEGIN);
const { clock } = world;

const ask = (name: string, accept: string, query: string = '', method: string = 'GET') =>
  send(world.system.httpUrl, `/api/v1/devices/${name}/sensors/s/measurements?${query}`, {
    method,
    headers: { Accept: accept },
  });

const ofNdjson = (text: string): Sample[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .map(({ ts, value }) => [Date.parse(ts), value]);

function ofCsv(text: string): Sample[] {
  const [head, ...lines] = text.split('\n').slice(0, -1);
  expect(head).toBe('ts,value');
  return lines.map((line) => {
    const [ts = '', value] = line.split(',');
    return [Date.parse(ts), Number(value)];
  });
}

describe('Export: hours in every stored form', () => {
  let expected: Sample[];
  beforeAll(async () => {
    const fates = [...FATES, ...FATES].filter((fate) => fate !== 'batches');
    const hours = [...fates, 'batches' as const].map((fate, index) => {
      const hour = BEGIN + index * 5 * HOUR_MS;
      const count = fate === 'nothing' ? 0 : 30;
      const samples: Sample[] = Array.from({ length: count }, (_, i) => [
        hour + i * 119_999 + index,
        [i / 7, -0, 1e300, -5e-324, 12][i % 5] ?? 0,
      ]);
      return { hour, fate, samples };
    });
    // CSV and NDJSON have no negative zero.
    expected = (await world.lay('mixed', hours)).map(([ts, value]) => [ts, value + 0]);
  });

  test.each([
    [NDJSON, 'ndjson', ofNdjson],
    [CSV, 'csv', ofCsv],
  ])(
    'Export of measurements as %s: ascending and descending order: the file has every sample in order',
    async (type, extension, read) => {
      for (const order of ['asc', 'desc']) {
        const { status, headers, text } = await ask('mixed', type, `order=${order}`);
        expect(status).toBe(200);
        expect(headers['content-type']).toBe(`${type}; charset=utf-8`);
        expect(headers['content-disposition']).toBe(`attachment; filename=mixed_s.${extension}`);
        expect(headers.vary).toMatch(/Accept/);
        expect(read(text)).toEqual(order === 'asc' ? expected : expected.toReversed());
        expect(text.match(/\d{4}-[^",]+/)?.[0]).toBe(
          new Date(Number(expected.at(order === 'asc' ? 0 : -1)?.[0])).toISOString(),
        );
      }
      const [from, to] = [Number(expected[7]?.[0]), Number(expected[90]?.[0])];
      const { text } = await ask('mixed', type, `order=asc&from=${from}&to=${to}`);
      expect(read(text)).toEqual(expected.slice(7, 90));
    },
  );

  test('Export of measurements: parameter format is given: it replaces the Accept header', async () => {
    const html = 'text/html, application/xhtml+xml, */*;q=0.8';
    const csv = await ask('mixed', html, 'order=asc&format=csv');
    expect(csv.headers['content-type']).toBe(`${CSV}; charset=utf-8`);
    expect(ofCsv(csv.text)).toEqual(expected);
    const ndjson = await ask('mixed', CSV, 'order=asc&format=ndjson');
    expect(ndjson.headers['content-type']).toBe(`${NDJSON}; charset=utf-8`);
    expect(ofNdjson(ndjson.text)).toEqual(expected);
    expect(JSON.parse((await ask('mixed', CSV, 'format=json&limit=2')).text).items).toHaveLength(2);
    expectProblem(await ask('mixed', CSV, 'format=xml'), 400, 'bad_parameter');
    expectProblem(await ask('mixed', html, 'format=csv&limit=5'), 400, 'bad_parameter');
  });

  test('Export of measurements: unknown format, paging parameter, reversed range or unknown device: refused', async () => {
    expectProblem(await ask('mixed', 'application/xml'), 406, 'not_acceptable');
    for (const query of ['limit=5', 'cursor=abc']) {
      const answer = await ask('mixed', CSV, query);
      expectProblem(answer, 400, 'bad_parameter');
      expect(answer.headers['content-disposition']).toBeUndefined();
    }
    expectProblem(await ask('mixed', CSV, 'from=2&to=1'), 400, 'bad_range');
    expectProblem(await ask('nobody', CSV), 404, 'not_found');
  });
});

describe('Export: nearly two million samples', () => {
  const DAYS = 20;
  const FROM = BEGIN + 10 * DAY_MS;
  beforeAll(async () => {
    const end = FROM + DAYS * DAY_MS;
    const sensor = world.history.sensorOf('large', 's');
    const times = Array.from({ length: 3600 }, (_, second) => second * 1000);
    const values = times.map((time) => Math.sin(time));
    const statistics = { count: 3600, min: -1, max: 1, sum: 0, first: 0, last: 0 };
    for (let day = FROM; day < end; day += DAY_MS) {
      await Promise.all(
        Array.from({ length: 24 }, async (_, index) => {
          const hour = day + index * HOUR_MS;
          const samples = packSamples(
            hour,
            times.map((time) => hour + time),
            values,
            0,
            3600,
          );
          await world.history.store.write.history.writeSamples(sensor, [{ hour, samples }]);
          await world.history.store.write.history.writeStatistics(
            sensor,
            hour,
            statistics,
            hour + 2 * HOUR_MS,
          );
        }),
      );
    }
    await world.history.packedUntil(bucketOf(end));
    clock.now = end;
    await world.measure('large', [[end, 7]]);
  });

  async function begin(query: string): Promise<IncomingMessage> {
    const sent = request(`${world.system.httpUrl}/api/v1/devices/large/sensors/s/measurements?${query}`, {
      headers: { Accept: NDJSON },
    }).end();
    const [response] = await once(sent, 'response');
    return response;
  }

  test('Export of nearly two million samples: error in the middle: the connection breaks, so the file is not taken as complete', async () => {
    const sensor = world.history.sensorOf('large', 's');
    const hour = FROM + (DAYS - 1) * DAY_MS + 5 * HOUR_MS;
    await world.history.dropPacked(sensor, hour);
    await world.history.store.write.history.writeSamples(sensor, [{ hour, samples: Buffer.from([1, 2, 3]) }]);
    const response = await begin('order=asc');
    expect(response.statusCode).toBe(200);
    response.resume();
    await expect(finished(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expectProblem(await ask('large', NDJSON, `from=${hour}`), 500, 'internal');
  });
});
