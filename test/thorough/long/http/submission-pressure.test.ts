import { beforeEach, expect, test } from '@jest/globals';
import type { OtherPeriods } from '../../../../common/periods.ts';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { type CqlProxy, type CqlRequest, startCqlProxy } from '../../../support/database/cql-proxy.ts';
import { sharedContactPoint } from '../../../support/database/engine.ts';
import { expectProblem, send } from '../../../support/http/index.ts';
import { readMetric } from '../../../support/metrics.ts';
import { startTestSystem, type TestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

const TS = Date.now() - 60_000;

const afterwards = useCleanUps();
let cql: CqlProxy;
beforeEach(async () => {
  cql = await startCqlProxy(sharedContactPoint());
  afterwards(() => cql.stop());
});

async function startSystem(periods?: OtherPeriods) {
  const system = await startTestSystem({ settings: { CQL_CONTACT_POINTS: cql.contactPoint }, periods });
  afterwards(() => system.stop());
  return system;
}

const post = (system: TestSystem, value: number) =>
  send(system.httpUrl, '/api/v1/measurements?device=d', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sensor_id: 't', ts: TS + value, value }),
  });

const isSamples = ({ statements }: CqlRequest) =>
  statements.some(({ cql: text }) => text.startsWith('INSERT INTO message'));

const unsettled = (system: TestSystem) => readMetric(system, 'iot_ingest_unsettled_bytes');

test('POST /measurements: database does not answer: posts wait for their commit, and a further post gets 429 busy', async () => {
  const system = await startSystem();
  expect((await post(system, 0)).status).toBe(200);
  cql.hold(({ kind }) => kind !== 'query');
  const answers: Array<Awaited<ReturnType<typeof send>>> = [];
  const posts = [];
  // After a while the driver gives up a request, and ingest repeats it. After that, further posts are refused.
  do {
    posts.push(post(system, posts.length + 1).then((answer) => answers.push(answer)));
    await until(() => cql.held() >= posts.length || answers.length > 0);
  } while (!(await until(() => answers.length > 0, { withinMs: 1000 }).catch(() => false)));
  const [busy] = answers;
  expectProblem(busy as never, 429, 'busy');
  expect(busy?.headers['retry-after']).toMatch(/^\d+$/);
  expect(answers).toHaveLength(1);

  cql.release();
  await Promise.all(posts);
  expect(answers.slice(1).map(({ status }) => status)).toEqual(Array(posts.length - 1).fill(200));
  await until(async () => (await post(system, 1000)).status === 200);
  await until(async () => (await unsettled(system)) === 0);
});

test('POST /measurements: process stops while a post waits for its commit: 503, or the connection closes', async () => {
  const system = await startSystem();
  await post(system, 0);
  cql.hold(isSamples);
  const waiting = post(system, 1).then(
    (answer) => expectProblem(answer, 503, 'unavailable'),
    // The connection may also close without an answer.
    (error) => expect(error.code).toBe('ECONNRESET'),
  );
  await until(() => cql.held() === 1);
  await system.halt();
  await waiting;
});
