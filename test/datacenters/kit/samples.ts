import mqtt from 'mqtt';
import { HOUR_MS } from '../../../schema/rules.ts';
import type { Json } from '../../support/json.ts';
import type { TestSystem } from '../../support/system/index.ts';

export type Sample = { ts: number; value: number };

export async function publish(system: TestSystem, device: string, samples: Sample[]) {
  const client = await mqtt.connectAsync(system.mqttUrl);
  const body = samples.map((sample) => ({ sensor_id: 's', ...sample }));
  await client.publishAsync(`iot/v1/${device}/measurements`, JSON.stringify(body), { qos: 1 });
  await client.endAsync();
}

/** Values in the order of time; none while the device is unknown there. */
export async function seriesOf(system: TestSystem, device: string, from: number): Promise<number[]> {
  const range = `from=${from}&to=${from + HOUR_MS}&order=asc&limit=1000`;
  const response = await system.fetch(`/devices/${device}/sensors/s/measurements?${range}`);
  const { items = [] }: Json = await response.json();
  return items.map(({ value }: { value: number }) => value);
}
