// cspell:ignore guycorbaz smartme thomassorensen
import { expect, test } from '@jest/globals';
import { bdSeq, encodePayload } from '../../../support/features/sparkplug/payload.ts';
import { useDevice, useTestSystem } from '../../../support/system/use.ts';

/**
 * Replays public bug reports about edge nodes with our own payloads: births and deaths that arrive late, and values of one instant. Each
 * test names its report.
 */

const system = useTestSystem();
const client = useDevice(system);

const read = (device: string) => system.get(`/devices/${encodeURIComponent(device)}`);

async function values(device: string, sensor: string): Promise<number[]> {
  const path = `/devices/${encodeURIComponent(device)}/sensors/${sensor}/measurements?order=asc`;
  return (await system.all(path)).map(({ value }) => value);
}

const edge = (node: string, type: string, content: Parameters<typeof encodePayload>[0], device?: string) =>
  client.publish(`spBv1.0/field/${type}/${node}${device ? `/${device}` : ''}`, encodePayload(content));

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
