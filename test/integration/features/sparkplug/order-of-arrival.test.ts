// cspell:ignore guycorbaz smartme thomassorensen
import { expect, test } from '@jest/globals';
import { bdSeq, encodePayload, type MetricContent } from '../../../support/features/sparkplug/payload.ts';
import { useDevice, useTestSystem } from '../../../support/system/use.ts';

/**
 * Replays public bug reports about edge nodes with our own payloads: births and deaths that arrive late, and values of one instant. Each
 * test names its report.
 */

const system = useTestSystem();
const client = useDevice(system);

const read = (device: string) => system.get(`/devices/${encodeURIComponent(device)}`);

/** @returns its values, the oldest first */
async function values(device: string, sensor: string): Promise<number[]> {
  const path = `/devices/${encodeURIComponent(device)}/sensors/${sensor}/measurements?order=asc`;
  return (await system.all(path)).map(({ value }) => value);
}

const edge = (node: string, type: string, content: Parameters<typeof encodePayload>[0], device?: string) =>
  client.publish(`spBv1.0/field/${type}/${node}${device ? `/${device}` : ''}`, encodePayload(content));

const metric = (ts: number, name: string, alias: number, value: number): MetricContent => ({
  name,
  alias,
  ts,
  type: 'double',
  value,
});

test('Sparkplug DBIRTH: guycorbaz/smartme_mqtt#29: after a reconnect it repeats the timestamp of an old reading: device is online', async () => {
  const now = Date.now();
  const reading = now - 37 * 60_000;
  const declared = { ts: reading, seq: 1, metrics: [metric(reading, 'power', 10, 11)] };
  await edge('meter', 'NBIRTH', { ts: now, seq: 0, metrics: [bdSeq(0)] });
  await edge('meter', 'DBIRTH', declared, 'dev');
  await edge('meter', 'NDEATH', { metrics: [bdSeq(0)] });
  expect((await read('field/meter/dev')).online).toBe(false);
  await edge('meter', 'NBIRTH', { ts: now + 1, seq: 0, metrics: [bdSeq(1)] });
  await edge('meter', 'DBIRTH', declared, 'dev');
  expect((await read('field/meter/dev')).online).toBe(true);
  await edge('meter', 'DDATA', { ts: reading + 900_000, seq: 2, metrics: [{ alias: 10, value: 22 }] }, 'dev');
  expect(await values('field/meter/dev', 'power')).toEqual([11, 22]);
});

test('Equal timestamps: united-manufacturing-hub/benthos-umh#416: Sparkplug stores the later value, JSON the greater value', async () => {
  const ts = Date.now();
  const run = (value: boolean) => ({ alias: 2, ts, value });
  await edge('twice', 'NBIRTH', {
    ts: ts - 1000,
    seq: 0,
    metrics: [bdSeq(0), { name: 'run', alias: 2, ts: ts - 1000, type: 'boolean', value: false }],
  });
  await edge('twice', 'NDATA', { ts, seq: 1, metrics: [run(true), run(false)] });
  const { sensors } = await read('field/twice');
  expect(sensors).toMatchObject([{ name: 'run', value: 0 }]);
  await client.send(
    'twice',
    'measurements',
    [9, 3].map((value) => ({ sensor_id: 't', ts, value })),
  );
  // JSON samples may be split into messages in any way, so the greater value is stored, whatever the order.
  expect(await values('twice', 't')).toEqual([9]);
});
