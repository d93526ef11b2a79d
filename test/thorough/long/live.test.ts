import { expect, test } from '@jest/globals';
import type { EventStream } from '../../support/http/event-stream.ts';
import { send } from '../../support/http/index.ts';
import { startGate } from '../../support/http/tcp-gate.ts';
import { readMetric } from '../../support/metrics.ts';
import type { ApiProcess } from '../../support/processes/api-process.ts';
import { measure, received, useLiveProcesses } from '../../support/processes/live.ts';
import { until } from '../../support/until.ts';

/** A resync, every 30 s, delivers a lost change. */
const RESYNCED_WITHIN_MS = 120_000;

const { follow, start, broker, connectClient, afterwards } = useLiveProcesses();

const committedAt = (stream: EventStream, value: number) =>
  stream.events.find(
    ({ event, data }) =>
      event === 'delta' && data.items.some((item: { value: unknown }) => item.value === value),
  )?.data.committed_at;

async function readiness({ httpUrl }: ApiProcess) {
  const { status, text } = await send(httpUrl, '/readyz');
  return { status, ...JSON.parse(text) };
}

test('Live changes: HTTP process loses its broker: readers get changes from the database, and the process stays ready', async () => {
  const gate = await startGate(broker().url);
  afterwards(() => gate.stop());
  const http = await start({ ROLE: 'http', MQTT_URL: gate.url });
  const client = await connectClient();
  await measure(client, 'cut', 1);
  const reader = await follow(http, '?device=cut');
  expect((await readiness(http)).checks.live).toEqual({ ok: true, message: 'connected' });

  gate.cut('refuse');
  await until(async () => (await readiness(http)).checks.live.ok === false);
  expect(await readiness(http)).toMatchObject({ status: 200, ready: true });
  await measure(client, 'cut', 2);
  await until(() => received(reader).has('cut 2'), { withinMs: RESYNCED_WITHIN_MS });
  expect(await readMetric(http, 'iot_live_resynced_total')).toBe(1);

  await measure(client, 'cut', 3);
  await gate.open();
  await until(() => received(reader).has('cut 3'));
  expect((await readiness(http)).checks.live.ok).toBe(true);
  await measure(client, 'cut', 4);
  await until(() => received(reader).has('cut 4'));
  // The resync reads the value, so the time of its commit is unknown.
  expect([2, 4].map((value) => committedAt(reader, value))).toEqual([null, expect.any(String)]);
  expect(reader.hasEnded()).toBe(false);
});
