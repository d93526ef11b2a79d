import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestEngine } from '../../support/database/engine.js';
import { expectProblem, send } from '../../support/http/index.js';
import { connectDevice } from '../../support/mqtt/device.js';
import { startTestSystem } from '../../support/system/index.js';
import { until } from '../../support/until.js';

/** @import { TestEngine } from '../../support/database/engine.js' */
/** @import { TestSystem } from '../../support/system/index.js' */

/** How far the clock of the system is ahead, in ms. */
let ahead = 0;
/** @type {TestEngine} of its own: it is stopped here */
let engine;
/** @type {TestSystem} */
let system;
beforeAll(async () => {
  engine = await startTestEngine();
  const settings = { CQL_CONTACT_POINTS: engine.contactPoint };
  system = await startTestSystem({ settings, clock: () => Date.now() + ahead });
  const device = await connectDevice(system);
  await device.measure('cow', [{ sensor_id: 'pulse', ts: Date.now(), value: 61 }]);
  await device.end();
});
afterAll(async () => {
  await system?.stop();
  await engine?.dispose();
});

async function readiness() {
  const { status, text } = await send(system.httpUrl, '/readyz');
  return { status, ...JSON.parse(text) };
}

test('Readiness: all checks pass: ready', async () => {
  const well = { ok: true, message: expect.stringMatching(/./) };
  expect(await readiness()).toEqual({
    status: 200,
    ready: true,
    checks: { database: well, clock: well, broker: well, acknowledgements: well },
  });
});

test('Readiness: clock differs by a minute: not ready', async () => {
  ahead = 120_000;
  const state = await until(async () => {
    const now = await readiness();
    return now.status === 503 && now;
  });
  expect(state).toMatchObject({ ready: false, checks: { clock: { ok: false }, database: { ok: true } } });
  expect(state.checks.clock.message).toMatch(/^1[12]\d{4} ms ahead of the database's$/);
  ahead = 0;
  await until(async () => (await readiness()).ready);
});

test('Database unavailable: requests get 503 with Retry-After; the process is alive, and not ready', async () => {
  await engine.stop();
  for (const path of ['/latest', '/devices', '/devices/cow', '/devices/cow/sensors/pulse/measurements']) {
    const answer = await send(system.httpUrl, `/api/v1${path}`);
    expectProblem(answer, 503, 'unavailable');
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  }
  expect((await send(system.httpUrl, '/healthz')).text).toBe('{"status":"alive"}');
  const state = await until(async () => {
    const now = await readiness();
    return !now.ready && now;
  });
  expect(state).toMatchObject({ status: 503, checks: { database: { ok: false } } });

  await engine.start();
  await until(async () => (await readiness()).ready);
  await until(async () => (await send(system.httpUrl, '/api/v1/latest')).status === 200);
});
