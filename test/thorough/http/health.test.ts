import { expect, test } from '@jest/globals';
import { send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';
import { until } from '../../support/until.ts';

/** The time by which the clock of the system is ahead, in ms. */
let ahead = 0;
const system = useTestSystem({ clock: () => Date.now() + ahead });

async function readiness() {
  const { status, text } = await send(system.httpUrl, '/readyz');
  return { status, ...JSON.parse(text) };
}

test('Readiness: database, clock, broker and acknowledgements are in order: /readyz answers 200', async () => {
  const well = { ok: true, message: expect.stringMatching(/./) };
  expect(await readiness()).toEqual({
    status: 200,
    ready: true,
    checks: { database: well, clock: well, broker: well, acknowledgements: well },
  });
});

test('Readiness: clock of the process is two minutes ahead of the database: /readyz answers 503', async () => {
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
