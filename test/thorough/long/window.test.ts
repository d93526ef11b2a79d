import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startCqlWire } from '../../support/database/cql-wire.ts';
import { sharedContactPoint } from '../../support/database/engine.ts';
import { readMetric } from '../../support/metrics.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { until } from '../../support/until.ts';

const HOUR_MS = 3_600_000;

const afterwards = useCleanUps();

/**
 * Starts a system that may have one request in flight, and a device that is registered. Every other request has to wait. A
 * message that needed two permits at once would never get them. The size of this window is fixed; the last test has a default one.
 */
async function startNarrow() {
  const wire = await startCqlWire(sharedContactPoint());
  afterwards(() => wire.stop());
  const system = await startTestSystem({
    settings: { CQL_CONTACT_POINTS: wire.contactPoint, INGEST_MAX_IN_FLIGHT: '1' },
  });
  afterwards(() => system.stop());
  const device = await connectDevice(system);
  afterwards(() => device.end());
  return { wire, system, device };
}

test('Congestion window: messages wait for a permit: waiting messages of the same device and hour share one row', async () => {
  const { wire, system, device } = await startNarrow();
  // The present hour stays in time for nearly two hours, and an hour two hours ago is always late. In the five minutes between,
  // an hour becomes late.
  const base = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const lateBase = base - 2 * HOUR_MS;
  const measure = (name: string, ts: number) =>
    device.measure(name, [{ sensor_id: 's', ts, value: ts % 1000 }]);
  await Promise.all([measure('one', base), measure('two', base)]);

  wire.hold(() => true);
  const requestsBefore = wire.requests.length;
  const messages = [measure('one', base + 1)];
  await until(() => wire.requests.length > requestsBefore);
  for (let i = 2; i <= 10; i++) messages.push(measure('one', base + i));
  for (let i = 1; i <= 5; i++) messages.push(measure('two', base + i), measure('one', lateBase + i));
  await until(async () => (await readMetric(system, 'iot_ingest_waiting')) >= 3);
  const bytes = await readMetric(system, 'iot_ingest_unsettled_bytes');
  await until(async () => {
    const now = await readMetric(system, 'iot_ingest_unsettled_bytes');
    return now > 19 * 2048 && now >= bytes;
  });
  wire.release();
  await Promise.all(messages);

  const rows = wire.requests
    .slice(requestsBefore)
    .flatMap(({ statements }) => statements)
    .filter(({ table }) => table.endsWith('.message'));
  // The twenty messages cover three hours. The first message was sent alone, or merged with others before it was sent.
  expect(new Set(rows.map(({ partition }) => partition)).size).toBe(3);
  expect(rows.length).toBeLessThanOrEqual(4);
  const stored = await system.all(`/devices/one/sensors/s/measurements?from=${lateBase}&order=asc`);
  expect(stored).toHaveLength(16);
  expect(await system.all(`/devices/two/sensors/s/measurements?from=${base}&order=asc`)).toHaveLength(6);
});
