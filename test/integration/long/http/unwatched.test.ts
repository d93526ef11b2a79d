import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { sharedContactPoint } from '../../../support/database/engine.ts';
import { useKeyspace } from '../../../support/database/keyspace.ts';
import { expectProblem, send } from '../../../support/http/index.ts';
import type { Json } from '../../../support/json.ts';
import { startApi } from '../../../support/processes/api-process.ts';
import { until } from '../../../support/until.ts';

const HEARTBEAT_MS = 200;

/** Long enough to be reported as unwatched, in ms. */
const AWAY_MS = 10 * HEARTBEAT_MS;

const PATH = '/api/v1/pipeline/unwatched';

const afterwards = useCleanUps();

async function read(url: string, query: string = ''): Promise<Json> {
  const { status, text } = await send(url, PATH + query);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return JSON.parse(text);
}

/** Returns true if one reported span covers the whole time. @param time epoch ms */
const holds = (
  { items }: { items: { from: string; to: string }[] },
  { from, to }: { from: number; to: number },
) => items.some((item) => Date.parse(item.from) <= from && Date.parse(item.to) >= to);

test('GET /pipeline/unwatched: process is killed, and started again later: the answer has the time in between', async () => {
  const settings = {
    CQL_CONTACT_POINTS: sharedContactPoint(),
    HTTP_PORT: '0',
    MQTT_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
  };
  const { config, use } = await useKeyspace(settings);
  afterwards(() => use.release());
  const start = async () => {
    const api = await startApi(
      { ...settings, CQL_KEYSPACE: config.cql.keyspace, HEARTBEAT_MS: String(HEARTBEAT_MS) },
      { script: 'test/support/processes/api-ahead.ts' },
    );
    afterwards(() => api.kill());
    return api;
  };

  const first = await start();
  const { since } = await until(async () => {
    const answer = await read(first.httpUrl);
    return answer.since !== null && answer;
  });
  await first.kill();
  const from = Date.now();
  await sleep(AWAY_MS);
  const to = Date.now();
  const second = await start();
  const answer = await read(second.httpUrl);
  expect(answer).toEqual({ since, items: expect.any(Array), left_out_ms: 2.5 * HEARTBEAT_MS });
  expect(holds(answer, { from, to })).toBe(true);
  // The range of the request cuts the reported time.
  const middle = `${from + 1}&to=${to - 1}`;
  expect((await read(second.httpUrl, `?from=${middle}`)).items).toEqual([
    { from: new Date(from + 1).toISOString(), to: new Date(to - 1).toISOString() },
  ]);
  expectProblem(await send(second.httpUrl, `${PATH}?from=now&to=-1h`), 400, 'bad_range');
  expectProblem(await send(second.httpUrl, `${PATH}?limit=5`), 400, 'bad_parameter');
});
