import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import { sharedContactPoint } from '../../../support/database/engine.ts';
import { documentedMetrics, exposedMetrics } from '../../../support/documents/metrics-page.ts';
import { startTcpProxy } from '../../../support/http/tcp-proxy.ts';
import { readMetric } from '../../../support/metrics.ts';
import { connectDevice } from '../../../support/mqtt/device.ts';
import { startMosquitto } from '../../../support/mqtt/mosquitto.ts';
import { startTestSystem } from '../../../support/system/index.ts';
import { until } from '../../../support/until.ts';

const afterwards = useCleanUps();

async function startSystem(settings?: Record<string, string>) {
  const system = await startTestSystem({ settings, periods: { heartbeat: 100 } });
  afterwards(() => system.stop());
  const scrape = async () => (await fetch(`${system.httpUrl}/metrics`)).text();
  return { system, scrape };
}

const byName = (metrics: Array<{ name: string }>) => metrics.sort((a, b) => (a.name < b.name ? -1 : 1));

test('docs/reference/metrics.md: listed metrics: the process exposes each with type, help and labels', async () => {
  const mosquitto = await startMosquitto();
  afterwards(() => mosquitto.remove());
  const embedded = await startSystem();
  // Kafka and S3 are unreachable here. Their metrics are exposed nevertheless.
  const external = await startSystem({
    MQTT_URL: mosquitto.url,
    STREAM_KAFKA: '127.0.0.1:9',
    STREAM_PARQUET: 's3://away',
    STREAM_S3_ENDPOINT: 'http://127.0.0.1:9',
    STREAM_S3_KEY_ID: 'key',
    STREAM_S3_SECRET: 'secret',
  });
  const device = await connectDevice(embedded.system);
  afterwards(() => device.end());
  await device.measure('cow', [{ sensor_id: 'pulse', ts: Date.now(), value: 61 }]);
  await device.measure('cow', [{ sensor_id: 'pulse', ts: Date.now(), value: Number.NaN }]);

  const texts = [await embedded.scrape(), await external.scrape()];
  const exposed = new Map(texts.flatMap(exposedMetrics).map((metric) => [metric.name, metric]));
  const documented = documentedMetrics();
  expect(byName(documented.map(({ name, type, help }) => ({ name, type, help })))).toEqual(
    byName([...exposed.values()]),
  );

  const lines = texts.flatMap((text) => text.split('\n'));
  for (const { name, labels } of documented) {
    const seen = lines.find((line) => line.startsWith(`${name}{`) || line.startsWith(`${name}_count{`));
    const names = [...(seen ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label);
    if (seen) expect([name, ...names]).toEqual([name, ...labels]);
  }
});

test('Metrics gauges: database is unavailable: they show the standstill and the node as down until it is back', async () => {
  const proxy = await startTcpProxy(`cql://${sharedContactPoint()}`);
  afterwards(() => proxy.stop());
  const { system } = await startSystem({ CQL_CONTACT_POINTS: new URL(proxy.url).host });
  afterwards(() => proxy.open());
  const device = await connectDevice(system);
  afterwards(() => device.end());
  const read = (series: string) => readMetric(system, series);

  proxy.cut('reset');
  const stored = device.measure('cow', [{ sensor_id: 'pulse', ts: Date.now(), value: 61 }]);
  await until(async () => (await read('iot_ingest_standstill_seconds')) > 0.5);
  await until(async () => (await read('iot_db_nodes{state="down"}')) === 1);
  expect(await read('iot_ingest_unsettled_messages')).toBe(1);
  // Messages that need no database are still acknowledged. They must not hide the standstill.
  const others = await connectDevice(system);
  afterwards(() => others.end());
  for (const topic of ['IOT/elsewhere', 'iot/v1/cow/elsewhere', 'iot/v1/goat/measurements']) {
    const before = await read('iot_ingest_standstill_seconds');
    await others.publish(topic, '[]');
    expect(await read('iot_ingest_standstill_seconds')).toBeGreaterThan(before);
  }
  await proxy.open();
  await stored;
  await until(async () => (await read('iot_ingest_standstill_seconds')) === 0);
  await until(async () => (await read('iot_db_nodes{state="up"}')) === 1);
});

test('Metrics: external MQTT broker: share group members and messages dropped by the broker are counted', async () => {
  const mosquitto = await startMosquitto();
  afterwards(() => mosquitto.remove());
  const { system, scrape } = await startSystem({ MQTT_URL: mosquitto.url });
  const read = (series: string) => readMetric(system, series);
  const showsDrops = async () => (await scrape()).includes('\niot_broker_dropped_messages 0\n');
  await until(showsDrops);
  await until(async () => (await read('iot_share_group_members{state="online"}')) === 1);
  await mosquitto.stop();
  // The metric disappears, so that the counts before and after the restart of the broker are not compared.
  await until(async () => !(await scrape()).includes('\niot_broker_dropped_messages '));
  await until(async () => (await read('iot_share_group_members{state="offline"}')) === 1);
  await mosquitto.start();
  await until(showsDrops);
  await until(async () => (await read('iot_share_group_members{state="online"}')) === 1);
});
